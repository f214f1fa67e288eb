import { findNodeType } from '../common/ids.ts';
import type { NodeResolvers, QueryResolvers } from '../generated/resolver-types.generated.ts';
import { findVisibleNode } from './rules/visible-rows.ts';

export const Node = {
  __resolveType({ id }) {
    const type = findNodeType(id);
    if (!type || type === 'ApiKey' || type === 'Invitation') throw new Error(`The id ${id} names no type.`);
    return type;
  },
} satisfies NodeResolvers;

export const nodeQueries = {
  node: (_, { id }, context) => findVisibleNode(id, context),
} satisfies QueryResolvers;
