import { findNodeType } from '../common/ids.ts';
import type { NodeResolvers, QueryResolvers } from '../generated/resolver-types.generated.ts';
import { findVisiblePost, findVisibleRoom } from './rules/visible-rows.ts';

export const Node = {
  __resolveType({ id }) {
    const type = findNodeType(id);
    if (!type || type === 'ApiKey' || type === 'Invitation') throw new Error(`The id ${id} names no type.`);
    return type;
  },
} satisfies NodeResolvers;

export const nodeQueries = {
  node(_, { id }, context) {
    switch (findNodeType(id)) {
      case 'User':
        return context.loaders.user.load(id);
      case 'Room':
        return findVisibleRoom(id, context);
      case 'Post':
        return findVisiblePost(id, context);
      default:
        return null;
    }
  },
} satisfies QueryResolvers;
