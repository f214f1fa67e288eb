import { type DocumentNode, Kind, Lexer, type SelectionSetNode, Source, type Token, TokenKind } from 'graphql';
import type { Limits } from '../../config.ts';
import { ClientError } from '../../errors.ts';
import { requestError } from '../answer.ts';
import type { DocumentCheck } from '../document-rules.ts';
import { countFieldPairs, type Fragments } from './field-pairs.ts';

/**
 * The maximum number of selected fields once all fragments are spread. It bounds all later passes over the document.
 */
const maxExpandedSize = 10_000;
/** A recursive walk uses the stack once per level. */
const maxLevels = 1_000;
/** graphql's own rule compares the fields pair by pair, which takes up to 0.1 s at this limit. */
const maxFieldPairs = 5_000;
/** Applies whatever the setting is: beyond this number, graphql's own rules take seconds. */
const maxTokens = 100_000;
/**
 * Functions that walk fragments recursively, graphql's own rules among them, use the stack once per fragment of a
 * chain.
 */
const maxFragments = 1_000;
/**
 * Allows one token per line, and strings of many lines. The limit exists because each error counts the lines before it,
 * and empty lines are not tokens.
 */
const minLines = 10_000;
const closing: Partial<Record<TokenKind, number>> = {
  [TokenKind.PAREN_R]: -1,
  [TokenKind.BRACKET_R]: -1,
  [TokenKind.BRACE_R]: -1,
};
const opening: Partial<Record<TokenKind, number>> = {
  [TokenKind.PAREN_L]: 1,
  [TokenKind.BRACKET_L]: 1,
  [TokenKind.BRACE_L]: 1,
};

/**
 * Limits bytes, tokens, lines, comments, nested brackets, fragments, aliases and directives in one pass before the
 * parse.
 */
export function createSourceCheck(limits: Limits): (source: string) => void {
  const tokenLimit = Math.min(limits.tokens, maxTokens);
  const lineLimit = Math.max(tokenLimit, minLines);
  return (source) => {
    if (Buffer.byteLength(source) > limits.documentBytes) throw exceeds(limits.documentBytes, 'bytes');
    const lexer = new Lexer(new Source(source));
    let nesting = 0;
    let tokens = 0;
    let comments = 0;
    let fragments = 0;
    let parentheses = 0;
    let aliases = 0;
    let directives = 0;
    while (lexer.token.kind !== TokenKind.EOF) {
      const token = lexer.advance();
      if (token.kind !== TokenKind.EOF) tokens += 1;
      comments += countComments(token);
      if (nesting === 0 && token.value === 'fragment') fragments += 1;
      nesting += (opening[token.kind] ?? 0) + (closing[token.kind] ?? 0);
      if (token.kind === TokenKind.PAREN_L) parentheses += 1;
      if (token.kind === TokenKind.PAREN_R) parentheses -= 1;
      // In parentheses a colon follows the name of an argument or a variable, so it is not an alias.
      if (token.kind === TokenKind.COLON && parentheses === 0) aliases += 1;
      if (token.kind === TokenKind.AT) directives += 1;
      if (tokens > tokenLimit) throw exceeds(tokenLimit, 'tokens');
      if (token.line > lineLimit) throw exceeds(lineLimit, 'lines');
      if (comments > limits.comments) throw exceeds(limits.comments, 'comments');
      if (nesting > limits.nesting) throw exceeds(limits.nesting, 'nested brackets');
      if (fragments > maxFragments) throw exceeds(maxFragments, 'fragments');
      if (aliases > limits.aliases) throw exceeds(limits.aliases, 'aliases');
      if (directives > limits.directives) throw exceeds(limits.directives, 'directives');
    }
  };
}

/**
 * Limits the size with all fragments spread, and the pairs of fields that would have to be merged. It runs before the
 * document is known to be valid.
 */
export const checkExpanded: DocumentCheck = (_schema, document) => {
  const fragments = fragmentsOf(document);
  const { size, levels, isCyclic } = measureExpanded(document, fragments);
  if (size > maxExpandedSize) return [refusal(maxExpandedSize, 'fields in its fragments')];
  if (levels > maxLevels) return [refusal(maxLevels, 'levels in its fragments')];
  // graphql's own rule reports the cycle.
  if (isCyclic) return [];
  if (countFieldPairs(document, fragments) > maxFieldPairs) {
    return [refusal(maxFieldPairs, 'pairs of fields of one name to merge')];
  }
  return [];
};

function countComments(token: Token): number {
  let count = 0;
  for (let before = token.prev; before?.kind === TokenKind.COMMENT; before = before.prev) count += 1;
  return count;
}

function fragmentsOf({ definitions }: DocumentNode): Fragments {
  return new Map(
    definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [])),
  );
}

interface Extent {
  size: number;
  levels: number;
}

interface Expansion extends Extent {
  /**
   * Whether a fragment contains itself. A repeated fragment in a cycle is not counted again, so `size` and `levels` are
   * then lower bounds.
   */
  isCyclic: boolean;
}

const empty: Extent = { size: 0, levels: 0 };

/**
 * Runs in linear time, because each fragment is measured once. It stops at `maxLevels`; later checks run only on
 * documents within that limit.
 */
function measureExpanded({ definitions }: DocumentNode, fragments: Fragments): Expansion {
  const known = new Map<string, Extent | undefined>();
  const all = { ...empty, isCyclic: false };
  const measureFragment = (name: string, level: number): Extent => {
    const extent = known.get(name);
    if (extent) return extent;
    if (known.has(name)) {
      all.isCyclic = true;
      return empty;
    }
    known.set(name, undefined);
    const measured = measure(fragments.get(name)?.selectionSet, level);
    known.set(name, measured);
    return measured;
  };
  const measure = (selectionSet: SelectionSetNode | undefined, level: number): Extent => {
    const extent = { size: 0, levels: 1 };
    if (!selectionSet || level > maxLevels) return extent;
    for (const selection of selectionSet.selections) {
      const { size, levels } =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? measureFragment(selection.name.value, level + 1)
          : measure(selection.selectionSet, level + 1);
      extent.size += 1 + size;
      extent.levels = Math.max(extent.levels, 1 + levels);
    }
    return extent;
  };
  for (const node of definitions) {
    if (node.kind !== Kind.OPERATION_DEFINITION) continue;
    const { size, levels } = measure(node.selectionSet, 1);
    all.size += size;
    all.levels = Math.max(all.levels, levels);
  }
  return all;
}

function exceeds(limit: number, what: string): ClientError {
  return new ClientError('DOCUMENT_LIMIT_EXCEEDED', `The document has more than ${limit} ${what}.`);
}

function refusal(limit: number, what: string) {
  return requestError('DOCUMENT_LIMIT_EXCEEDED', `The document has more than ${limit} ${what}.`);
}
