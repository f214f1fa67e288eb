import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type MarkedToken, marked } from 'marked';
import { inRepository } from '../repository.ts';

/** A Markdown file of the repository. */
export interface Document {
  /** Relative to the root of the repository. */
  path: string;
  text: string;
  /** All tokens in order, each before the tokens that it contains. */
  tokens: MarkedToken[];
}

export async function readDocuments(root = inRepository()): Promise<Document[]> {
  const paths = globSync('{*.md,{docs,bench,test,examples,packages}/**/*.md}', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  }).sort();
  return Promise.all(
    paths.map(async (path) => {
      const text = await readFile(join(root, path), 'utf8');
      return { path, text, tokens: listTokens(text) };
    }),
  );
}

function listTokens(text: string): MarkedToken[] {
  const tokens: MarkedToken[] = [];
  marked.walkTokens(marked.lexer(text), (token) => {
    tokens.push(token as MarkedToken);
  });
  return tokens;
}

/** The texts between backticks. */
export function listCodeSpans({ tokens }: Document): string[] {
  return tokens.flatMap((token) => (token.type === 'codespan' ? token.text : []));
}

/** A code block of a document. */
export interface Sample {
  /** The path and line of the document. */
  place: string;
  path: string;
  language: string;
  code: string;
}

export function listSamples({ path, text, tokens }: Document): Sample[] {
  return tokens.flatMap((token) => {
    if (token.type !== 'code') return [];
    const line = text.slice(0, text.indexOf(token.raw)).split('\n').length;
    return { place: `${path}:${line}`, path, language: token.lang ?? '', code: token.text };
  });
}
