import { type DocumentNode, Kind, validate } from 'graphql';
import depthLimit from 'graphql-depth-limit';
import type { Limits } from '../../config.ts';
import { requestError } from '../answer.ts';
import type { DocumentCheck } from '../documents.ts';

/**
 * How deep an operation nests, as graphql-depth-limit counts. It runs only on documents whose expanded size is bounded:
 * its own walk is exponential in nested fragments, and throws on those that the standard rules refuse.
 */
export function createDepthCheck({ depth }: Limits): DocumentCheck {
  const rules = [depthLimit(depth)];
  return (schema, document) =>
    validate(schema, nameOperations(document), rules, { maxErrors: 1 }).map(() =>
      requestError('DEPTH_LIMIT_EXCEEDED', `The operation is nested deeper than ${depth}.`),
    );
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
