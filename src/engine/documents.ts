import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  NoSchemaIntrospectionCustomRule,
  OverlappingFieldsCanBeMergedRule,
  parse,
  specifiedRules,
  type ValidatedExecutionArgs,
  type ValidationOptions,
  type ValidationRule,
  validate,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { withoutTraces } from '../errors.ts';
import { requestError } from './answer.ts';
import type { Enveloped } from './engine.ts';
import { countTokens } from './limits/retained.ts';

const maxDocuments = 1_000;
/** A syntax tree takes 200 to 340 bytes for each of its tokens, so the cached trees take at most 5 MB. */
const maxTokens = 14_000;
/** Weighs the source text, which is long if the document has comments or strings. */
const charactersPerToken = 150;
const maxErrors = 10;
/** Replaces a refused document, so that its tree is not held by the cache and can be collected early. */
const nothing: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };

export interface DocumentRules {
  introspection: boolean;
  /** Runs before the parse. @throws ClientError if the text is too large or too complex. */
  checkSource: (source: string) => void;
  /** Runs before the standard rules, which would take long on the documents that it refuses. */
  checkSize: DocumentCheck;
  /**
   * Run in order on a document that passed the standard rules except the one on overlapping fields. The first check
   * that finds errors ends the validation.
   */
  checks: readonly DocumentCheck[];
}

export type DocumentCheck = (schema: GraphQLSchema, document: DocumentNode) => readonly GraphQLError[];

/** A parsed document and its validation errors. */
export interface OpenedDocument {
  document: DocumentNode;
  errors: readonly GraphQLError[];
  /**
   * The execution arguments of the document's operations without variables and context, by the requested operation
   * name.
   */
  operations: Map<string | undefined, ValidatedExecutionArgs>;
}

/** Parses and validates each document once. The cache is limited by the tokens of its documents. */
export class Documents {
  readonly #enveloped: Enveloped;
  readonly #opened = new LRUCache<string, OpenedDocument>({
    max: maxDocuments,
    maxSize: maxTokens,
    sizeCalculation: ({ document }, source) => countTokens(document) + Math.ceil(source.length / charactersPerToken),
  });

  constructor(enveloped: Enveloped) {
    this.#enveloped = enveloped;
  }

  knows(source: string): boolean {
    return this.#opened.has(source);
  }

  /** @throws GraphQLError GRAPHQL_PARSE_FAILED, or ClientError if the text is too large or too complex. */
  open(source: string): OpenedDocument {
    const cached = this.#opened.get(source);
    if (cached) return cached;
    const { parse, validate, schema } = this.#enveloped;
    const document: DocumentNode = parse(source);
    const errors = validate(schema, document);
    const opened = { document: errors.length > 0 ? nothing : document, errors, operations: new Map() };
    this.#opened.set(source, opened);
    return opened;
  }
}

/** The rules for parsing and validating in the pipeline. */
export function useDocumentRules({ introspection, checkSource, checkSize, checks }: DocumentRules): Plugin {
  const rules = introspection ? linearRules : [...linearRules, NoSchemaIntrospectionCustomRule];
  const options = { maxErrors, hideSuggestions: !introspection };
  const steps = [
    checkSize,
    checkRules(rules, options),
    ...checks,
    checkRules([OverlappingFieldsCanBeMergedRule], options),
  ];

  function validateInSteps(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
    for (const step of steps) {
      const errors = step(schema, document);
      if (errors.length > 0) return errors;
    }
    return [];
  }

  return {
    onParse: ({ params, setParsedDocument }) => setParsedDocument(parseChecked(String(params.source), checkSource)),
    onValidate: ({ params: { schema, documentAST }, setResult }) =>
      setResult([...validateInSteps(schema, documentAST)]),
  };
}

/**
 * The rule on overlapping fields compares them pair by pair, so it runs last, on documents that are known to be small
 * enough.
 */
const linearRules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

function checkRules(rules: readonly ValidationRule[], options: ValidationOptions): DocumentCheck {
  return (schema, document) => {
    const check = () => validate(schema, document, rules, options);
    return withTraceOfFaults(check).map((error) => requestError('GRAPHQL_VALIDATION_FAILED', undefined, error));
  };
}

/**
 * Validation errors need no stack trace. An error that is thrown is a bug in the server, so the check runs again with
 * stack traces.
 */
function withTraceOfFaults(check: () => readonly GraphQLError[]): readonly GraphQLError[] {
  try {
    return withoutTraces(check);
  } catch {
    return check();
  }
}

function parseChecked(source: string, checkSource: (source: string) => void): DocumentNode {
  try {
    checkSource(source);
    return parse(source);
  } catch (error) {
    if (error instanceof GraphQLError) throw requestError('GRAPHQL_PARSE_FAILED', undefined, error);
    throw error;
  }
}
