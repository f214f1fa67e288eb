import type { RoomRow } from '../data/tables.ts';
import type { NodeResolvers, QueryResolvers } from '../generated/resolver-types.generated.ts';
import { findVisibleNode } from './rules/visible-rows.ts';

export const Node = {
  __resolveType({ id }, { services }) {
    const type = services.extensions.ofId(id)?.type;
    if (!type) throw new Error(`The id ${id} names no type.`);
    // The generated type does not know those of extensions.
    return type as 'Post';
  },
} satisfies NodeResolvers;

export const nodeQueries = {
  node: (_, { id }, context) => findVisibleNode(id, context) as Promise<RoomRow | undefined>,
} satisfies QueryResolvers;
