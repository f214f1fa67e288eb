import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  TypeInfo,
  ValidationContext,
  type ValidationRule,
} from 'graphql';
import depthLimit from 'graphql-depth-limit';
import type { Limits } from '../../config/config.ts';
import { requestError } from '../answer.ts';

/**
 * The depth of an operation, counted as graphql-depth-limit does. It runs only on documents whose expanded size is
 * bounded, because its own walk is exponential in nested fragments, and throws on documents that the standard rules
 * refuse.
 */
export function createDepthCheck({ depth }: Limits) {
  const rule = depthLimit(depth);
  return (schema: GraphQLSchema, document: DocumentNode): GraphQLError[] =>
    reports(rule, schema, nameOperations(document))
      ? [requestError('DEPTH_LIMIT_EXCEEDED', `The operation is nested deeper than ${depth}.`)]
      : [];
}

/**
 * The rule reports errors while it is created, once per branch. There graphql's own `validate` does not catch the error
 * that aborts the validation.
 */
function reports(rule: ValidationRule, schema: GraphQLSchema, document: DocumentNode): boolean {
  let hasReported = false;
  const context = new ValidationContext(schema, document, new TypeInfo(schema), () => {
    hasReported = true;
  });
  rule(context);
  return hasReported;
}

/** The rule stores operations by name in a plain object, where an operation named `__proto__` would be lost. */
function nameOperations(document: DocumentNode): DocumentNode {
  const definitions = document.definitions.map((node, index) =>
    node.kind === Kind.OPERATION_DEFINITION
      ? { ...node, name: { kind: Kind.NAME, value: `operation${index}` } as const }
      : node,
  );
  return { ...document, definitions };
}
