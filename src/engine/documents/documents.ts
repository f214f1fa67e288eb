import { type DocumentNode, type GraphQLSchema, Kind } from 'graphql';
import { LRUCache } from 'lru-cache';
import { RequestErrors } from '../answer.ts';
import { countTokens } from '../limits/client-memory.ts';
import { CompiledOperation } from './compiled-operation.ts';
import { createPipeline, type Pipeline, type PipelineConfig } from './pipeline.ts';

const maxDocuments = 1_000;
/** A syntax tree takes 200 to 340 bytes for each of its tokens, so the cached trees take at most 5 MB. */
const maxTokens = 14_000;
/** Weighs the source text, which is long if the document has comments or strings. */
const charactersPerToken = 150;
/** Replaces a refused document, so that its tree is not held by the cache and can be collected early. */
const nothing: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };

/** A parsed document, its validation errors, and its compiled operations. */
interface CheckedDocument {
  document: DocumentNode;
  errors: ConstructorParameters<typeof RequestErrors>[0];
  /** By the requested operation name. */
  operations: Map<string | undefined, CompiledOperation>;
}

/** Parses, validates and compiles each document once. The cache is limited by the tokens of its documents. */
export class Documents {
  readonly #pipeline: Pipeline;
  readonly #suggestions: boolean;
  readonly #checked = new LRUCache<string, CheckedDocument>({
    max: maxDocuments,
    maxSize: maxTokens,
    sizeCalculation: ({ document }, source) => countTokens(document) + Math.ceil(source.length / charactersPerToken),
  });

  /** `suggestions`: whether errors suggest names of the schema. */
  constructor(schema: GraphQLSchema, config: PipelineConfig, suggestions: boolean) {
    this.#pipeline = createPipeline(schema, config, suggestions);
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
      const schema: GraphQLSchema = this.#pipeline.schema;
      operation = new CompiledOperation(schema, document, operationName, !this.#suggestions);
      operations.set(operationName, operation);
    }
    return operation;
  }

  #open(source: string): CheckedDocument {
    const found = this.#checked.get(source);
    if (found) return found;
    const { parse, validate, schema } = this.#pipeline;
    const document: DocumentNode = parse(source);
    const errors = validate(schema, document);
    const checked = { document: errors.length > 0 ? nothing : document, errors, operations: new Map() };
    this.#checked.set(source, checked);
    return checked;
  }
}
