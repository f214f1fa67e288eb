import {
  type DirectiveNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { idempotentMutations } from '../../resolvers/rules/idempotency.ts';
import { requestError } from '../answer.ts';

/** `@idempotent` is refused where it has no effect: a client that relies on it would repeat a change. */
export function checkIdempotentFields(schema: GraphQLSchema, document: DocumentNode): GraphQLError[] {
  const errors: GraphQLError[] = [];
  const typeInfo = new TypeInfo(schema);
  const Directive = (node: DirectiveNode) => {
    if (node.name.value === 'idempotent' && !isSupported(schema, typeInfo)) errors.push(unsupported(node, typeInfo));
  };
  visit(document, visitWithTypeInfo(typeInfo, { Directive }));
  return errors.slice(0, 1);
}

function isSupported(schema: GraphQLSchema, typeInfo: TypeInfo): boolean {
  const name = typeInfo.getFieldDef()?.name ?? '';
  return typeInfo.getParentType() === schema.getMutationType() && Object.hasOwn(idempotentMutations, name);
}

function unsupported(node: DirectiveNode, typeInfo: TypeInfo): GraphQLError {
  const field = `${typeInfo.getParentType()?.name}.${typeInfo.getFieldDef()?.name}`;
  const supported = Object.keys(idempotentMutations).join(', ');
  const message = `@idempotent has no effect on ${field}. It is supported by: ${supported}.`;
  return requestError('VALIDATION_ERROR', message, new GraphQLError(message, { nodes: node }), {
    details: [{ field, issue: 'invalid' }],
  });
}
