import { hash } from 'node:crypto';
import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  print,
  type ValidatedExecutionArgs,
  type VariableValues,
  validateExecutionArgs,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { ClientError } from '../../errors.ts';
import { RequestErrors, requestError } from '../answer.ts';
import { countTokens } from '../limits/client-memory.ts';
import { costOf } from '../limits/cost.ts';
import { coerceVariables } from './coerce-variables.ts';
import { createDocumentCheck, type DocumentCheck, type DocumentCheckConfig } from './document-check.ts';
import { inspectFields, type SelectedFields } from './selected-fields.ts';

/** How a request names its document: by its text, by an id or hash, or by both. */
export interface DocumentReference {
  query: string | undefined;
  documentId: string | undefined;
  /** The `sha256Hash` of Apollo's clients. With trusted documents it may be any name. */
  documentHash: string | undefined;
}

/** Where the text of a request's document comes from. */
export interface DocumentSource {
  /** @throws ClientError PERSISTED_QUERY_NOT_FOUND, DOCUMENT_NOT_TRUSTED or INVALID_REQUEST. */
  find(reference: DocumentReference): string;
  /** Called after the document was validated. */
  cache(reference: DocumentReference): void;
}

/** Also of the texts that are found by their hash. */
const maxDocuments = 1_000;
/** A syntax tree takes 200 to 340 bytes for each of its tokens, so the cached trees take at most 5 MB. */
const maxTokens = 14_000;
/** Weighs the source text, which is long if the document has comments or strings. */
const charactersPerToken = 150;
/** Replaces a refused document, so that its tree is not held by the cache and can be collected early. */
const nothing: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };

/** A parsed document, its validation errors, and its compiled operations. */
interface CheckedDocument extends ReturnType<DocumentCheck> {
  /** By the requested operation name. */
  operations: Map<string | undefined, CompiledOperation>;
}

/** Parses, validates and compiles each document once. The cache is limited by the tokens of its documents. */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #check: DocumentCheck;
  readonly #suggestions: boolean;
  readonly #checked = new LRUCache<string, CheckedDocument>({
    max: maxDocuments,
    maxSize: maxTokens,
    sizeCalculation: ({ document }, source) => countTokens(document) + Math.ceil(source.length / charactersPerToken),
  });

  /** `suggestions`: whether errors suggest names of the schema. */
  constructor(schema: GraphQLSchema, config: DocumentCheckConfig, suggestions: boolean) {
    this.#schema = schema;
    this.#check = createDocumentCheck(schema, config, suggestions);
    this.#suggestions = suggestions;
  }

  has(source: string): boolean {
    return this.#checked.has(source);
  }

  /**
   * The compiled operation, if possible from the cache. @throws RequestErrors, GraphQLError GRAPHQL_PARSE_FAILED or
   * OPERATION_NOT_FOUND, or ClientError if the text is too large or too complex.
   */
  compile(source: string, operationName: string | undefined): CompiledOperation {
    const { document, errors, operations } = this.#open(source);
    if (errors.length > 0) throw new RequestErrors(errors);
    let operation = operations.get(operationName);
    if (!operation) {
      operation = new CompiledOperation(this.#schema, document, operationName, !this.#suggestions);
      operations.set(operationName, operation);
    }
    return operation;
  }

  #open(source: string): CheckedDocument {
    const found = this.#checked.get(source);
    if (found) return found;
    const { document, errors } = this.#check(source);
    const checked = { document: errors.length > 0 ? nothing : document, errors, operations: new Map() };
    this.#checked.set(source, checked);
    return checked;
  }
}

/** The message of Apollo Server, which urql compares instead of the code. */
const persistedQueryNotFound = 'PersistedQueryNotFound';
const maxTextLength = 4_000_000;

/**
 * Any document runs. The text of a document that was sent with its hash is cached, and later requests may send the hash
 * alone.
 */
export function createAutomaticDocuments(): DocumentSource {
  const texts = new LRUCache<string, string>({
    max: maxDocuments,
    maxSize: maxTextLength,
    sizeCalculation: (text, name) => text.length + name.length,
  });
  return {
    find({ query, documentHash }) {
      if (documentHash !== undefined && !/^[\da-f]{64}$/.test(documentHash))
        throw new ClientError('INVALID_REQUEST', '"sha256Hash" must be 64 hex digits, in lower case.');
      const text = query ?? (documentHash === undefined ? undefined : texts.get(documentHash));
      if (text === undefined) throw new ClientError('PERSISTED_QUERY_NOT_FOUND', persistedQueryNotFound);
      if (query !== undefined && documentHash !== undefined && hash('sha256', query, 'hex') !== documentHash)
        throw new ClientError('INVALID_REQUEST', '"sha256Hash" is not the SHA-256 of "query".');
      return text;
    },
    cache({ query, documentHash }) {
      if (query !== undefined && documentHash !== undefined) texts.set(documentHash, query);
    },
  };
}

const signingIn = ['signUp', 'signIn', 'signInWithLink'];

export type Variables = Record<string, unknown> | undefined;

/** Everything that is known about one operation of a document before a request brings its variables and its viewer. */
export class CompiledOperation {
  readonly type: OperationTypeNode;
  readonly name: string | undefined;
  readonly fields: SelectedFields;
  /** Equal for equal operations of equal documents. */
  readonly id: string;
  /**
   * A variable of a subscription that is used only as the argument `after`. It is left out of the group's key, so that
   * resuming subscribers share a group.
   */
  readonly resumeVariable: string | undefined;
  /** Set permanently when an execution for an event reads the viewer: the results then differ between viewers. */
  isPersonal = false;
  /** Whether the operation selects only fields that sign in. */
  readonly isSigningIn: boolean;
  readonly #args: ValidatedExecutionArgs;
  /** Undefined if the cost depends on variables. */
  readonly #fixedCost: number | undefined;

  /** @throws GraphQLError OPERATION_NOT_FOUND. */
  constructor(schema: GraphQLSchema, document: DocumentNode, name: string | undefined, hideSuggestions: boolean) {
    const operation = getOperationAST(document, name);
    if (!operation) throw requestError('OPERATION_NOT_FOUND');
    this.type = operation.operation;
    this.name = operation.name?.value;
    this.#args = createArgs(schema, document, operation, hideSuggestions);
    const { cost, isFixed } = costOf(this.#args);
    this.#fixedCost = isFixed ? cost : undefined;
    this.fields = inspectFields(this.#args);
    const text = document.loc?.source.body ?? print(document);
    this.id = hash('sha256', `${this.name ?? ''} ${text}`, 'base64url');
    this.resumeVariable = findResumeVariable(operation, document);
    this.isSigningIn = isSigningIn(operation);
  }

  get document(): DocumentNode {
    return this.#args.document;
  }

  /** The arguments of an execution, without context. @throws RequestErrors VARIABLES_INVALID. */
  bind(variables: Variables): ValidatedExecutionArgs {
    if (!this.#args.operation.variableDefinitions?.length) return this.#args;
    const variableValues = coerceVariables(this.#args, variables ?? {});
    return { ...this.#args, variableValues, rawVariableValues: variables };
  }

  /** The arguments of an execution for one value of a subscription. */
  argsOf(variableValues: VariableValues, rootValue: unknown, contextValue: unknown): ValidatedExecutionArgs {
    return { ...this.#args, variableValues, rootValue, contextValue };
  }

  /** The cost of an execution with these arguments. */
  costOf(args: ValidatedExecutionArgs): number {
    return this.#fixedCost ?? costOf(args).cost;
  }
}

/** graphql's own function also coerces variables, which differ for each request; it gets the operation without them. */
function createArgs(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  hideSuggestions: boolean,
): ValidatedExecutionArgs {
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  const definitions = [{ ...operation, variableDefinitions: [] }, ...fragments];
  const args = validateExecutionArgs({ schema, document: { ...document, definitions }, hideSuggestions });
  if (!('schema' in args)) throw new RequestErrors(args);
  return { ...args, document, operation };
}

function isSigningIn({ operation, selectionSet }: OperationDefinitionNode): boolean {
  return (
    operation === OperationTypeNode.MUTATION &&
    selectionSet.selections.every((node) => node.kind === Kind.FIELD && signingIn.includes(node.name.value))
  );
}

/** The variable of a subscription's argument `after`, if it is used for nothing else. */
function findResumeVariable(operation: OperationDefinitionNode, document: DocumentNode): string | undefined {
  const [root] = operation.operation === OperationTypeNode.SUBSCRIPTION ? operation.selectionSet.selections : [];
  const after =
    root?.kind === Kind.FIELD ? root.arguments?.find(({ name }) => name.value === 'after')?.value : undefined;
  if (after?.kind !== Kind.VARIABLE) return undefined;
  return countUses(after.name.value, operation, document) === 1 ? after.name.value : undefined;
}

/** Counts the uses of a variable in the operation and in all fragments of its document, without its definition. */
function countUses(name: string, operation: OperationDefinitionNode, document: DocumentNode): number {
  let uses = 0;
  visit(document, {
    OperationDefinition: (node) => (node === operation ? undefined : false),
    VariableDefinition: () => false,
    Variable(node) {
      if (node.name.value === name) uses += 1;
    },
  });
  return uses;
}
