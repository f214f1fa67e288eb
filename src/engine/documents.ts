import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  type ValidatedExecutionArgs,
  validate,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { requestError } from './answer.ts';
import type { Enveloped } from './engine.ts';

const maxDocuments = 1_000;
/** A syntax tree takes up to 220 times its source, which makes 110 MB of them at the most. */
const maxSourceLength = 500_000;
const maxErrors = 10;

export interface DocumentRules {
  introspection: boolean;
  /** Runs before the parse. @throws ClientError where the text is too large or too involved. */
  checkSource: (source: string) => void;
  /** Run in order on a document that passed the standard rules, until one finds fault. */
  checks: readonly DocumentCheck[];
}

export type DocumentCheck = (schema: GraphQLSchema, document: DocumentNode) => readonly GraphQLError[];

/** A document that parses, and what can be said against it. */
export interface OpenedDocument {
  document: DocumentNode;
  errors: readonly GraphQLError[];
  /** What its operations are executed with, but for variables and context: kept by the name that asks for them. */
  operations: Map<string | undefined, ValidatedExecutionArgs>;
}

/** Sends each document through the pipeline once. The cache is bounded by the length of the sources it holds. */
export class Documents {
  readonly #enveloped: Enveloped;
  readonly #opened = new LRUCache<string, OpenedDocument>({
    max: maxDocuments,
    maxSize: maxSourceLength,
    sizeCalculation: (_document, source) => source.length + 1,
  });

  constructor(enveloped: Enveloped) {
    this.#enveloped = enveloped;
  }

  /** @throws GraphQLError GRAPHQL_PARSE_FAILED, or ClientError where the text is too large or too involved. */
  open(source: string): OpenedDocument {
    const known = this.#opened.get(source);
    if (known) return known;
    const { parse, validate, schema } = this.#enveloped;
    const document: DocumentNode = parse(source);
    const opened = { document, errors: validate(schema, document), operations: new Map() };
    this.#opened.set(source, opened);
    return opened;
  }
}

/** How the pipeline parses and validates. */
export function useDocumentRules({ introspection, checkSource, checks }: DocumentRules): Plugin {
  const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  const options = { maxErrors, hideSuggestions: !introspection };

  function validateAndCheck(schema: GraphQLSchema, document: DocumentNode): GraphQLError[] {
    const errors = validate(schema, document, rules, options);
    if (errors.length > 0) return errors.map((error) => requestError('GRAPHQL_VALIDATION_FAILED', undefined, error));
    for (const check of checks) {
      const faults = check(schema, document);
      if (faults.length > 0) return [...faults];
    }
    return [];
  }

  return {
    onParse: ({ params, setParsedDocument }) => setParsedDocument(parseChecked(String(params.source), checkSource)),
    onValidate: ({ params: { schema, documentAST }, setResult }) => setResult(validateAndCheck(schema, documentAST)),
  };
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
