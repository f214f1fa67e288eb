import { Lexer, Source, type Token, TokenKind } from 'graphql';
import type { Limits } from '../../config/config.ts';
import { ClientError } from '../../errors.ts';

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

/**
 * Limits bytes, tokens, lines, comments, nested brackets, fragments, aliases and directives in one pass before the
 * parse.
 */
export function createSourceCheck(limits: Limits): (source: string) => void {
  const tokens = Math.min(limits.tokens, maxTokens);
  const maxima: Counts = {
    tokens,
    lines: Math.max(tokens, minLines),
    comments: limits.comments,
    'nested brackets': limits.nesting,
    fragments: maxFragments,
    aliases: limits.aliases,
    directives: limits.directives,
  };
  const names = Object.keys(maxima) as (keyof Counts)[];
  return (source) => {
    if (Buffer.byteLength(source) > limits.documentBytes) throw exceeds(limits.documentBytes, 'bytes');
    for (const counts of countTokens(source)) {
      for (const name of names) if (counts[name] > maxima[name]) throw exceeds(maxima[name], name);
    }
  };
}

const none = { tokens: 0, lines: 0, comments: 0, 'nested brackets': 0, fragments: 0, aliases: 0, directives: 0 };
type Counts = typeof none;

/** The counts after each token. @throws GraphQLError if the text has a syntax error. */
function* countTokens(source: string): Generator<Readonly<Counts>> {
  const lexer = new Lexer(new Source(source));
  const counts = { ...none };
  let parentheses = 0;
  while (lexer.token.kind !== TokenKind.EOF) {
    const token = lexer.advance();
    if (token.kind !== TokenKind.EOF) counts.tokens += 1;
    counts.lines = token.line;
    counts.comments += countComments(token);
    if (counts['nested brackets'] === 0 && token.value === 'fragment') counts.fragments += 1;
    if ('([{'.includes(token.kind)) counts['nested brackets'] += 1;
    if (')]}'.includes(token.kind)) counts['nested brackets'] -= 1;
    if (token.kind === TokenKind.PAREN_L) parentheses += 1;
    if (token.kind === TokenKind.PAREN_R) parentheses -= 1;
    // In parentheses a colon follows the name of an argument or a variable, so it is not an alias.
    if (token.kind === TokenKind.COLON && parentheses === 0) counts.aliases += 1;
    if (token.kind === TokenKind.AT) counts.directives += 1;
    yield counts;
  }
}

function countComments(token: Token): number {
  let count = 0;
  for (let before = token.prev; before?.kind === TokenKind.COMMENT; before = before.prev) count += 1;
  return count;
}

function exceeds(limit: number, what: string): ClientError {
  return new ClientError('DOCUMENT_LIMIT_EXCEEDED', `The document has more than ${limit} ${what}.`);
}
