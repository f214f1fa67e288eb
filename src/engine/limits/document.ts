import { type DocumentNode, Kind, Lexer, type SelectionSetNode, Source, type Token, TokenKind } from 'graphql';
import type { Limits } from '../../config.ts';
import { ClientError } from '../../errors.ts';
import { requestError } from '../answer.ts';
import type { DocumentCheck } from '../documents.ts';
import { countFieldPairs, type Fragments } from './field-pairs.ts';

/** A document may select so many fields with all its fragments spread out; what walks it later is bounded by this. */
const maxExpandedSize = 10_000;
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
  const size = measureExpanded(document, fragments);
  if (size > maxExpandedSize) return [refusal(maxExpandedSize, 'fields in its fragments')];
  // A rule of graphql's own says so.
  if (Number.isNaN(size)) return [];
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

/** In linear time: each fragment is measured once. NaN where one contains itself. */
function measureExpanded(document: DocumentNode, fragments: Fragments): number {
  const sizes = new Map<string, number>();
  const measureFragment = (name: string): number => {
    const known = sizes.get(name);
    if (known !== undefined) return known;
    sizes.set(name, Number.NaN);
    const size = measure(fragments.get(name)?.selectionSet);
    sizes.set(name, size);
    return size;
  };
  const measure = (selectionSet: SelectionSetNode | undefined): number =>
    (selectionSet?.selections ?? []).reduce((sum, selection) => {
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? measureFragment(selection.name.value)
          : measure(selection.selectionSet);
      return sum + 1 + inner;
    }, 0);
  return document.definitions.reduce(
    (sum, node) => sum + (node.kind === Kind.OPERATION_DEFINITION ? measure(node.selectionSet) : 0),
    0,
  );
}

function exceeds(limit: number, what: string): ClientError {
  return new ClientError('DOCUMENT_LIMIT_EXCEEDED', `The document has more than ${limit} ${what}.`);
}

function refusal(limit: number, what: string) {
  return requestError('DOCUMENT_LIMIT_EXCEEDED', `The document has more than ${limit} ${what}.`);
}
