import { type ASTVisitor, BREAK, GraphQLError, type ValidationContext } from 'graphql';
import { requestError } from '../answer.ts';

/** `@idempotent` is refused where it has no effect: a client that relies on it would repeat a change. */
export function IdempotentFieldsRule(context: ValidationContext): ASTVisitor {
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
