import {
  type ASTVisitor,
  BREAK,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  OverlappingFieldsCanBeMergedRule,
  parse,
  specifiedRules,
  type ValidationContext,
  type ValidationRule,
  validate,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { withoutTraces } from '../../common/stack-traces.ts';
import type { Config } from '../../config/config.ts';
import { findClientError, requestError } from '../answer.ts';
import { createDepthCheck } from '../limits/depth.ts';
import { checkExpanded, createSourceCheck } from '../limits/document.ts';

/**
 * Parses and validates a text, within the limits. @throws GraphQLError GRAPHQL_PARSE_FAILED; ClientError if the text is too
 * large or too complex.
 */
export type DocumentCheck = (source: string) => { document: DocumentNode; errors: readonly GraphQLError[] };

export type DocumentCheckConfig = Pick<Config, 'limits' | 'introspection'>;

const maxErrors = 10;
/**
 * The rule on overlapping fields compares them pair by pair, so it runs last, on documents that are known to be small
 * enough.
 */
const linearRules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

/** `suggestions`: whether errors suggest names of the schema. */
export function createDocumentCheck(
  schema: GraphQLSchema,
  config: DocumentCheckConfig,
  suggestions = config.introspection,
): DocumentCheck {
  const plugins = [useLimitedRules(config, suggestions)];
  const yoga = createYoga({ schema, logging: false, maskedErrors: false, parserAndValidationCache: false, plugins });
  const { parse, validate } = yoga.getEnveloped();
  return (source) => {
    const document: DocumentNode = parse(source);
    return { document, errors: validate(schema, document) };
  };
}

/** The rules for parsing and validating. The first check that finds errors ends the validation. */
function useLimitedRules({ limits, introspection }: DocumentCheckConfig, suggestions: boolean): Plugin {
  const checkSource = createSourceCheck(limits);
  const checkRules =
    (...rules: ValidationRule[]) =>
    (schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] =>
      withTraceOfFaults(() => validate(schema, document, rules, { maxErrors, hideSuggestions: !suggestions })).map(
        (error) => (findClientError(error) ? error : requestError('GRAPHQL_VALIDATION_FAILED', undefined, error)),
      );
  const checks: ((schema: GraphQLSchema, document: DocumentNode) => readonly GraphQLError[])[] = [
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

function parseChecked(source: string, checkSource: (source: string) => void): DocumentNode {
  try {
    checkSource(source);
    return parse(source);
  } catch (error) {
    if (error instanceof GraphQLError) throw requestError('GRAPHQL_PARSE_FAILED', undefined, error);
    throw error;
  }
}

/** `@idempotent` is refused where it has no effect: a client that relies on it would repeat a change. */
function IdempotentFieldsRule(context: ValidationContext): ASTVisitor {
  return {
    Directive(node) {
      if (node.name.value !== 'idempotent' || context.getFieldDef()?.extensions['isIdempotent']) return undefined;
      const field = `${context.getParentType()?.name}.${context.getFieldDef()?.name ?? ''}`;
      const mutations = Object.values(context.getSchema().getMutationType()?.getFields() ?? {});
      const supported = mutations.filter(({ extensions }) => extensions['isIdempotent']).map(({ name }) => name);
      const message = `@idempotent has no effect on ${field}. It is supported by: ${supported.join(', ')}.`;
      const from = new GraphQLError(message, { nodes: node });
      context.reportError(requestError('VALIDATION_ERROR', message, from, { details: [{ field, issue: 'invalid' }] }));
      return BREAK;
    },
  };
}
