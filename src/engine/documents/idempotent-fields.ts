import { type ASTVisitor, BREAK, GraphQLError, type ValidationContext } from 'graphql';
import { idempotentMutations } from '../../resolvers/rules/idempotency.ts';
import { requestError } from '../answer.ts';

/** `@idempotent` is refused where it has no effect: a client that relies on it would repeat a change. */
export function IdempotentFieldsRule(context: ValidationContext): ASTVisitor {
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
