import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';

/** The script of graphql-ws, which defines `graphqlWs`. */
export function readWebSocketClient(): Promise<string> {
  return readFile(new URL('../umd/graphql-ws.min.js', import.meta.resolve('graphql-ws')), 'utf8');
}

/** A page of the server that includes all its scripts and styles. */
export interface HtmlPage {
  /** As UTF-8. */
  html: Uint8Array;
  gzip: Uint8Array;
  /** Weak, because it is the same for the compressed and the uncompressed page. */
  etag: string;
  contentSecurityPolicy: string;
}

interface PageParts {
  /** The scripts that run before the own script. */
  scripts: readonly string[];
  /** The constants that the own script uses, by name. */
  constants?: Record<string, unknown>;
  styles: readonly string[];
  /** The directives of its policy for what is neither a script nor a request. */
  policy: (styleSources: string) => readonly string[];
}

/**
 * Packs page.html with its styles, page.css and its scripts, of which the last is script.generated.js; all next to the
 * module `url`. The policy of the page allows requests only to this server, and no other page may show it in a frame.
 */
export async function createHtmlPage(url: string, { constants = {}, policy, ...given }: PageParts): Promise<HtmlPage> {
  const read = (path: string) => readFile(new URL(path, url), 'utf8');
  const own = Object.entries(constants).map(([name, value]) => `const ${name} = ${toScript(value)};`);
  own.push(await read('script.generated.js'));
  const scripts = [...given.scripts, `{${own.join('\n')}}`].map(normaliseLines);
  const styles = [...given.styles, await read('page.css')].map(normaliseLines);
  const html = (await read('page.html'))
    .replace('<!-- icon -->', () => `<link rel="icon" href="${iconUrl}">`)
    .replace('<!-- styles -->', () => styles.map((style) => `<style>${style}</style>`).join('\n'))
    .replace('<!-- scripts -->', () => scripts.map((script) => `<script>${script}</script>`).join('\n'));
  const contentSecurityPolicy = [
    "default-src 'none'",
    `script-src ${hashSources(scripts)}`,
    ...policy(hashSources(styles)),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const etag = `W/"${hash('sha256', `${contentSecurityPolicy}${html}`, 'base64url').slice(0, 22)}"`;
  return { html: Buffer.from(html), gzip: gzipSync(html), etag, contentSecurityPolicy };
}

/** The sources of a policy that allow only these elements in the page, scripts or styles. */
function hashSources(contents: readonly string[]): string {
  return contents.map((content) => `'sha256-${hash('sha256', content, 'base64')}'`).join(' ');
}

/** A value as a JavaScript expression that cannot close its script element. */
function toScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

/** As a browser reads it: the hash of a script is that of its normalised lines. */
function normaliseLines(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}

export const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="2" y="5" width="28" height="20" rx="4" fill="#5b4bdb"/><path d="M6 10l10 8 10-8" fill="none" stroke="#fff" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/><path d="M9 24v6l7-6z" fill="#5b4bdb"/></svg>`;

/** The icon of Postroom, which needs no request. */
const iconUrl = `data:image/svg+xml;base64,${Buffer.from(logo).toString('base64')}`;
