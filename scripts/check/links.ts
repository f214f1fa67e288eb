import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import GithubSlugger from 'github-slugger';
import type { Token } from 'marked';
import { inRepository } from '../repository.ts';
import { type Document, readDocuments } from './documents.ts';

/** The relative links and images of the documentation whose file or heading does not exist. */
export async function checkLinks(root = inRepository()): Promise<string[]> {
  const documents = await readDocuments(root);
  const anchors = new Map(documents.map((document) => [document.path, listAnchors(document)]));
  return documents.flatMap(({ path, tokens }) =>
    tokens.flatMap((token) => {
      if (token.type !== 'link' && token.type !== 'image') return [];
      const reason = refuseLink(path, token.href, { root, anchors });
      return reason ? [`${path}: the link to ${token.href} is broken: ${reason}`] : [];
    }),
  );
}

interface Targets {
  root: string;
  /** The anchors of each document. */
  anchors: ReadonlyMap<string, ReadonlySet<string>>;
}

function refuseLink(from: string, href: string, { root, anchors }: Targets): string | undefined {
  if (/^[a-z]+:/i.test(href)) return undefined;
  const [path = '', anchor] = href.split('#');
  const target = path === '' ? from : posix.join(posix.dirname(from), path);
  if (!existsSync(join(root, target))) return `${target} does not exist`;
  return anchor && !anchors.get(target)?.has(anchor) ? `${target} has no heading #${anchor}` : undefined;
}

/** GitHub's anchors of the headings of a document. */
function listAnchors({ tokens }: Document): Set<string> {
  const slugger = new GithubSlugger();
  return new Set(tokens.flatMap((token) => (token.type === 'heading' ? slugger.slug(readText(token.tokens)) : [])));
}

function readText(tokens: Token[]): string {
  return tokens.map((token) => ('tokens' in token && token.tokens ? readText(token.tokens) : readLeaf(token))).join('');
}

function readLeaf(token: Token): string {
  return 'text' in token ? token.text : token.raw;
}
