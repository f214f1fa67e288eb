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
  const paths = globSync('{*.md,{docs,bench,test}/**/*.md}', { cwd: root, exclude: ['**/node_modules/**'] }).sort();
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
