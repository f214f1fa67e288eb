import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { requestError } from './answer.ts';

const maxDocuments = 1_000;
/** A syntax tree takes up to 220 times its source, which makes 110 MB of them at the most. */
const maxSourceLength = 500_000;
const maxErrors = 10;

export interface DocumentOptions {
  introspection: boolean;
  /** Runs before the parse. @throws ClientError where the text is too large or too involved. */
  checkSource: (source: string) => void;
  /** Run in order on a document that passed the standard rules, until one finds fault. */
  checks: readonly DocumentCheck[];
}

export type DocumentCheck = (schema: GraphQLSchema, document: DocumentNode) => readonly GraphQLError[];

/** Parses, validates and checks each document once. The cache is bounded by the length of the sources it holds. */
export function useDocuments({ introspection, checkSource, checks }: DocumentOptions): Plugin {
  const parsed = new LRUCache<string, DocumentNode>({
    max: maxDocuments,
    maxSize: maxSourceLength,
    sizeCalculation: (_document, source) => source.length + 1,
  });
  const validated = new WeakMap<DocumentNode, GraphQLError[]>();
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
    onParse({ params, setParsedDocument }) {
      const source = String(params.source);
      const document = parsed.get(source) ?? parseChecked(source, checkSource);
      parsed.set(source, document);
      setParsedDocument(document);
    },
    onValidate({ params: { schema, documentAST }, setResult }) {
      const errors = validated.get(documentAST) ?? validateAndCheck(schema, documentAST);
      validated.set(documentAST, errors);
      setResult(errors);
    },
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
