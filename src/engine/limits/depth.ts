import { type DocumentNode, type GraphQLSchema, Kind, TypeInfo, ValidationContext, type ValidationRule } from 'graphql';
import depthLimit from 'graphql-depth-limit';
import type { Limits } from '../../config.ts';
import { requestError } from '../answer.ts';
import type { DocumentCheck } from '../documents.ts';

/**
 * How deep an operation nests, as graphql-depth-limit counts. It runs only on documents whose expanded size is bounded:
 * its own walk is exponential in nested fragments, and throws on those that the standard rules refuse.
 */
export function createDepthCheck({ depth }: Limits): DocumentCheck {
  const rule = depthLimit(depth);
  return (schema, document) =>
    reports(rule, schema, nameOperations(document))
      ? [requestError('DEPTH_LIMIT_EXCEEDED', `The operation is nested deeper than ${depth}.`)]
      : [];
}

/** It reports while it is being made, once a branch, where graphql's own `validate` does not catch what stops it. */
function reports(rule: ValidationRule, schema: GraphQLSchema, document: DocumentNode): boolean {
  let hasReported = false;
  const context = new ValidationContext(schema, document, new TypeInfo(schema), () => {
    hasReported = true;
  });
  rule(context);
  return hasReported;
}

/** It keeps operations by name in a plain object, where an operation named `__proto__` would be lost. */
function nameOperations(document: DocumentNode): DocumentNode {
  const definitions = document.definitions.map((node, index) =>
    node.kind === Kind.OPERATION_DEFINITION
      ? { ...node, name: { kind: Kind.NAME, value: `operation${index}` } as const }
      : node,
  );
  return { ...document, definitions };
}
