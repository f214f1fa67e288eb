import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  NoSchemaIntrospectionCustomRule,
  OverlappingFieldsCanBeMergedRule,
  parse,
  specifiedRules,
  type Token,
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
import { EvictedDocuments } from './evicted-documents.ts';
import { countTokens } from './limits/retained.ts';

const maxDocuments = 1_000;
/** With all its tokens a syntax tree takes 200 to 340 bytes for each of them, which makes 5 MB of them at the most. */
const maxTokens = 14_000;
/** The source itself, which is long where comments or strings are. */
const charactersPerToken = 150;
const maxErrors = 10;
/** Stands for a document that was refused: its tree is to die young, and not to grow old in the cache. */
const nothing: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };

export interface DocumentRules {
  introspection: boolean;
  /** Runs before the parse. @throws ClientError where the text is too large or too involved. */
  checkSource: (source: string) => void;
  /** Runs before the standard rules, which take long for what it refuses. */
  checkSize: DocumentCheck;
  /** Run in order on a document that passed the standard rules but the one on overlapping fields, until one finds fault. */
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

/** Sends each document through the pipeline once. The cache is bounded by the tokens of the documents it holds. */
export class Documents {
  readonly #enveloped: Enveloped;
  readonly #evicted = new EvictedDocuments();
  readonly #opened = new LRUCache<string, OpenedDocument>({
    max: maxDocuments,
    maxSize: maxTokens,
    sizeCalculation: ({ document }, source) => countTokens(document) + Math.ceil(source.length / charactersPerToken),
    dispose: ({ document, errors }, source) => {
      if (errors.length === 0) this.#evicted.add(source, document);
    },
  });

  constructor(enveloped: Enveloped) {
    this.#enveloped = enveloped;
  }

  knows(source: string): boolean {
    return this.#opened.has(source);
  }

  /** @throws GraphQLError GRAPHQL_PARSE_FAILED, or ClientError where the text is too large or too involved. */
  open(source: string): OpenedDocument {
    const known = this.#opened.get(source);
    if (known) return known;
    const opened = this.#reopen(source) ?? this.#openNew(source);
    this.#opened.set(source, opened);
    return opened;
  }

  /** A subscription that runs an equal document shares its tree, and its group, with those that follow. */
  #reopen(source: string): OpenedDocument | undefined {
    const document = this.#evicted.find(source);
    return document && { document, errors: [], operations: new Map() };
  }

  #openNew(source: string): OpenedDocument {
    const { parse, validate, schema } = this.#enveloped;
    const document: DocumentNode = parse(source);
    const errors = validate(schema, document);
    if (errors.length > 0) dissolve(document);
    return { document: errors.length > 0 ? nothing : document, errors, operations: new Map() };
  }
}

/**
 * Takes a refused document's tree apart. graphql's TypeInfo makes a function that closes over the document and each of its
 * fragments, of the kind that V8 allocates among the old objects: until those are collected, all that hangs together with
 * them would stay.
 */
function dissolve(document: Mutable<DocumentNode>): void {
  for (let token: Mutable<Token> | null | undefined = document.loc?.startToken; token; ) {
    const { next }: Token = token;
    token.prev = null;
    token.next = null;
    token = next;
  }
  for (const definition of document.definitions) {
    Object.assign(definition, { selectionSet: undefined, variableDefinitions: undefined, directives: undefined });
  }
  document.definitions = [];
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** How the pipeline parses and validates. */
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

/** Fields that overlap are compared pair by pair, which is left to documents that are known to be small enough for it. */
const linearRules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

function checkRules(rules: readonly ValidationRule[], options: ValidationOptions): DocumentCheck {
  return (schema, document) => {
    const check = () => validate(schema, document, rules, options);
    return withTraceOfFaults(check).map((error) => requestError('GRAPHQL_VALIDATION_FAILED', undefined, error));
  };
}

/** The errors it returns need no traces; what it throws is a fault of ours, which is to be found. */
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
