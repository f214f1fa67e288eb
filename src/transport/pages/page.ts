import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { gzipSync } from 'node:zlib';

/** A page of the server that includes all its scripts and styles. */
export interface Page {
  gzip: Uint8Array;
  /** Weak, because it is the same for the compressed and the uncompressed page. */
  etag: string;
  contentSecurityPolicy: string;
}

/** Compresses a page. Its policy allows requests only to this server, and no other page may show it in a frame. */
export function packPage(html: string, policy: readonly string[]): Page {
  const contentSecurityPolicy = [
    "default-src 'none'",
    ...policy,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const etag = `W/"${hash('sha256', `${contentSecurityPolicy}${html}`, 'base64url').slice(0, 22)}"`;
  return { gzip: gzipSync(html), etag, contentSecurityPolicy };
}

/** The sources of a policy that allow only these elements in the page, scripts or styles. */
export function hashSources(contents: readonly string[]): string {
  return contents.map((content) => `'sha256-${hash('sha256', content, 'base64')}'`).join(' ');
}

/** As a browser reads it: the hash of a script is that of its normalised lines. */
export function normaliseLines(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}

/**
 * Joins the module `browser/start` next to a page and all modules that it imports, each after those that it imports, in
 * the scope of one script: a policy with hashes does not allow imports. They are JavaScript, or TypeScript in the
 * repository.
 */
export async function joinModules(page: string, extension: string): Promise<string> {
  const modules = new Map<string, string>();
  const add = async (name: string) => {
    if (modules.has(name)) return;
    const code = await readText(page, `browser/${name}`);
    for (const [, imported = ''] of code.matchAll(/^import [^;]* from '\.\/([^']+)';$/gm)) await add(imported);
    modules.set(name, extension === '.ts' ? stripTypeScriptTypes(code) : code);
  };
  await add(`start${extension}`);
  return Array.from(modules.values(), (module) => module.replaceAll(/^import [^;]*;$|^export (\{\};)?/gm, '')).join('');
}

/** A file next to the module `page`, which is a URL. */
export function readText(page: string, path: string): Promise<string> {
  return readFile(new URL(path, page), 'utf8');
}

export const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="2" y="5" width="28" height="20" rx="4" fill="#5b4bdb"/><path d="M6 10l10 8 10-8" fill="none" stroke="#fff" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/><path d="M9 24v6l7-6z" fill="#5b4bdb"/></svg>`;

/** The icon of Postroom, which needs no request. */
export const iconUrl = `data:image/svg+xml;base64,${Buffer.from(logo).toString('base64')}`;
