import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  type SelectionSetNode,
  Source,
  type Token,
  TokenKind,
} from 'graphql';
import type { Limits } from '../../config/config.ts';
import { ClientError } from '../../errors.ts';
import { requestError } from '../answer.ts';

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

/**
 * The maximum number of selected fields once all fragments are spread. It bounds all later passes over the document.
 */
const maxExpandedSize = 10_000;
/** A recursive walk uses the stack once per level. */
const maxLevels = 1_000;
/** graphql's own rule compares the fields pair by pair, which takes up to 0.1 s at this limit. */
const maxFieldPairs = 5_000;

type Operations = readonly OperationDefinitionNode[];
type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/**
 * Limits the size with all fragments spread, and the pairs of fields that would have to be merged. It runs before the
 * document is known to be valid.
 */
export function checkExpanded(document: DocumentNode): readonly GraphQLError[] {
  const refuse = (limit: number, what: string) => [
    requestError('DOCUMENT_LIMIT_EXCEEDED', `The document has more than ${limit} ${what}.`),
  ];
  const { definitions } = document;
  const operations = definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const named = definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  const fragments: Fragments = new Map(named.map((node) => [node.name.value, node]));
  const { size, levels, isCyclic } = expand(operations, fragments);
  if (size > maxExpandedSize) return refuse(maxExpandedSize, 'fields in its fragments');
  if (levels > maxLevels) return refuse(maxLevels, 'levels in its fragments');
  // graphql's own rule reports the cycle.
  if (isCyclic || countFieldPairs(operations, fragments) <= maxFieldPairs) return [];
  return refuse(maxFieldPairs, 'pairs of fields of one name to merge');
}

/** The size of all operations with their fragments spread. The count stops when it exceeds a limit. */
function expand(operations: Operations, fragments: Fragments) {
  /** `isCyclic`: a fragment contains itself. It is not spread again within itself. */
  const found = { size: 0, levels: 0, isCyclic: false };
  const open = new Set<string>();
  const add = ({ selections }: SelectionSetNode, level: number): void => {
    for (const selection of selections) {
      if (found.size > maxExpandedSize || found.levels > maxLevels) return;
      found.size += 1;
      found.levels = Math.max(found.levels, level);
      if (selection.kind === Kind.FRAGMENT_SPREAD) addFragment(selection.name.value, level + 1);
      else if (selection.selectionSet) add(selection.selectionSet, level + 1);
    }
  };
  const addFragment = (name: string, level: number): void => {
    const fragment = fragments.get(name);
    found.isCyclic ||= open.has(name);
    if (!fragment || open.has(name)) return;
    open.add(name);
    add(fragment.selectionSet, level);
    open.delete(name);
  };
  // An operation is the first level, its fields are the second.
  for (const { selectionSet } of operations) add(selectionSet, 2);
  return found;
}

/**
 * Counts the pairs of fields that have selections and share a response name once all fragments are spread. These
 * selections must be compared before the answer can have one shape. The time is proportional to the size of the
 * document with its fragments spread, so the document must not have cyclic fragments.
 */
function countFieldPairs(operations: Operations, fragments: Fragments): number {
  const countAmong = (selectionSets: readonly SelectionSetNode[]): number => {
    const groups = [...groupByResponseName(selectionSets, fragments).values()];
    return groups.reduce((sum, group) => sum + (group.length * (group.length - 1)) / 2 + countAmong(group), 0);
  };
  return operations.reduce((sum, { selectionSet }) => sum + countAmong([selectionSet]), 0);
}

/** Groups selection sets by response name. A fragment counts once, however often it is spread. */
function groupByResponseName(
  selectionSets: readonly SelectionSetNode[],
  fragments: Fragments,
): Map<string, SelectionSetNode[]> {
  const groups = new Map<string, SelectionSetNode[]>();
  const spread = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const name = selection.name.value;
        const fragment = spread.has(name) ? undefined : fragments.get(name);
        spread.add(name);
        if (fragment) collect(fragment.selectionSet);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet);
      } else if (selection.selectionSet) {
        const name = (selection.alias ?? selection.name).value;
        const group = groups.get(name);
        if (group) group.push(selection.selectionSet);
        else groups.set(name, [selection.selectionSet]);
      }
    }
  };
  for (const selectionSet of selectionSets) collect(selectionSet);
  return groups;
}
