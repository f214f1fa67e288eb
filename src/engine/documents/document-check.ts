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
import { withoutTraces } from '../../common/stack-traces.ts';
import type { Config } from '../../config/config.ts';
import { idempotentMutations } from '../../resolvers/rules/idempotency.ts';
import { findClientError, requestError } from '../answer.ts';
import { checkDepth, checkExpanded, createSourceCheck } from '../limits/document.ts';

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
  { limits, introspection }: DocumentCheckConfig,
  suggestions = introspection,
): DocumentCheck {
  const checkSource = createSourceCheck(limits);
  const checkRules =
    (...rules: ValidationRule[]) =>
    (document: DocumentNode): readonly GraphQLError[] =>
      withTraceOfFaults(() => validate(schema, document, rules, { maxErrors, hideSuggestions: !suggestions })).map(
        (error) => (findClientError(error) ? error : requestError('GRAPHQL_VALIDATION_FAILED', undefined, error)),
      );
  const checks: ((document: DocumentNode) => readonly GraphQLError[])[] = [
    // Before the standard rules, which would take long on the documents that it refuses.
    checkExpanded,
    checkRules(...linearRules, ...(introspection ? [] : [NoSchemaIntrospectionCustomRule])),
    (document) => checkDepth(document, limits.depth),
    checkRules(IdempotentFieldsRule),
    checkRules(OverlappingFieldsCanBeMergedRule),
  ];
  return (source) => {
    const document = parseChecked(source, checkSource);
    // The first check that finds errors ends the validation.
    for (const check of checks) {
      const errors = check(document);
      if (errors.length > 0) return { document, errors };
    }
    return { document, errors: [] };
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
      if (node.name.value !== 'idempotent') return undefined;
      const [parent, name = ''] = [context.getParentType(), context.getFieldDef()?.name];
      if (parent === context.getSchema().getMutationType() && Object.hasOwn(idempotentMutations, name))
        return undefined;
      const field = `${parent?.name}.${name}`;
      const supported = Object.keys(idempotentMutations).join(', ');
      const message = `@idempotent has no effect on ${field}. It is supported by: ${supported}.`;
      const from = new GraphQLError(message, { nodes: node });
      context.reportError(requestError('VALIDATION_ERROR', message, from, { details: [{ field, issue: 'invalid' }] }));
      return BREAK;
    },
  };
}
