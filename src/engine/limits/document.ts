import { type DocumentNode, Kind, Lexer, type SelectionSetNode, Source, type Token, TokenKind } from 'graphql';
import type { Limits } from '../../config.ts';
import { ClientError } from '../../errors.ts';
import { requestError } from '../answer.ts';
import type { DocumentCheck } from '../documents.ts';
import { countFieldPairs, type Fragments } from './field-pairs.ts';

/** A document may select so many fields with all its fragments spread out; what walks it later is bounded by this. */
const maxExpandedSize = 10_000;
/** Whatever goes down into it goes as deep into the stack. */
const maxLevels = 1_000;
/** graphql's own rule compares them two by two, for up to 0.1 s where nothing else bounds it. */
const maxFieldPairs = 5_000;
/** Whatever the setting says: beyond this, graphql's own rules take seconds. */
const maxTokens = 100_000;
/** What walks fragments, graphql's own rules first of all, goes as deep into the stack as they may be chained. */
const maxFragments = 1_000;
/** One token a line, and texts of many lines. Each error counts the lines before it, and an empty line is no token. */
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

/** Bytes, tokens, lines, comments, nested brackets, fragments, aliases and directives, in one pass before the parse. */
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
      // In parentheses a colon stands behind the name of an argument or a variable.
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

/** The size with all fragments spread out, and the fields that would have to be merged then; that it is valid is not known yet. */
export const checkExpanded: DocumentCheck = (_schema, document) => {
  const fragments = fragmentsOf(document);
  const { size, levels, isCyclic } = measureExpanded(document, fragments);
  if (size > maxExpandedSize) return [refusal(maxExpandedSize, 'fields in its fragments')];
  if (levels > maxLevels) return [refusal(maxLevels, 'levels in its fragments')];
  // A rule of graphql's own says so.
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
  /** A fragment contains itself; what stands below is not counted again, so that the rest is the least that it comes to. */
  isCyclic: boolean;
}

const empty: Extent = { size: 0, levels: 0 };

/** In linear time: each fragment is measured once. Beyond `maxLevels` it goes no deeper, and neither may what comes after. */
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
