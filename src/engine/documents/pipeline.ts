import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  OverlappingFieldsCanBeMergedRule,
  parse,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { withoutTraces } from '../../common/stack-traces.ts';
import type { Config } from '../../config/config.ts';
import { findClientError, requestError } from '../answer.ts';
import { createDepthCheck } from '../limits/depth.ts';
import { createSourceCheck } from '../limits/document.ts';
import { checkExpanded } from '../limits/expanded.ts';
import { IdempotentFieldsRule } from './idempotent-fields.ts';

/** Parses and validates documents, within the limits. */
export type Pipeline = Pick<ReturnType<ReturnType<typeof createYoga>['getEnveloped']>, 'parse' | 'validate' | 'schema'>;

export type PipelineConfig = Pick<Config, 'limits' | 'introspection'>;

type DocumentCheck = (schema: GraphQLSchema, document: DocumentNode) => readonly GraphQLError[];

const maxErrors = 10;
/**
 * The rule on overlapping fields compares them pair by pair, so it runs last, on documents that are known to be small
 * enough.
 */
const linearRules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

/** `suggestions`: whether errors suggest names of the schema. */
export function createPipeline(
  schema: GraphQLSchema,
  config: PipelineConfig,
  suggestions = config.introspection,
): Pipeline {
  const plugins = [useLimitedRules(config, suggestions)];
  const yoga = createYoga({ schema, logging: false, maskedErrors: false, parserAndValidationCache: false, plugins });
  return yoga.getEnveloped();
}

/** The rules for parsing and validating. The first check that finds errors ends the validation. */
function useLimitedRules({ limits, introspection }: PipelineConfig, suggestions: boolean): Plugin {
  const checkSource = createSourceCheck(limits);
  const checkRules =
    (...rules: ValidationRule[]): DocumentCheck =>
    (schema, document) =>
      withTraceOfFaults(() => validate(schema, document, rules, { maxErrors, hideSuggestions: !suggestions })).map(
        (error) => (findClientError(error) ? error : requestError('GRAPHQL_VALIDATION_FAILED', undefined, error)),
      );
  const checks: DocumentCheck[] = [
    // Before the standard rules, which would take long on the documents that it refuses.
    (_, document) => checkExpanded(document),
    checkRules(...linearRules, ...(introspection ? [] : [NoSchemaIntrospectionCustomRule])),
    createDepthCheck(limits),
    checkRules(IdempotentFieldsRule),
    checkRules(OverlappingFieldsCanBeMergedRule),
  ];
  return {
    onParse: ({ params, setParsedDocument }) => setParsedDocument(parseChecked(String(params.source), checkSource)),
    onValidate({ params: { schema, documentAST }, setResult }) {
      for (const check of checks) {
        const errors = check(schema, documentAST);
        if (errors.length > 0) return setResult([...errors]);
      }
      setResult([]);
    },
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

/** @throws GraphQLError GRAPHQL_PARSE_FAILED; ClientError if the text is too large or too complex. */
function parseChecked(source: string, checkSource: (source: string) => void): DocumentNode {
  try {
    checkSource(source);
    return parse(source);
  } catch (error) {
    if (error instanceof GraphQLError) throw requestError('GRAPHQL_PARSE_FAILED', undefined, error);
    throw error;
  }
}
