import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './graphql-env.d.ts';

export const graphql = initGraphQLTada<{ introspection: introspection; scalars: { DateTime: string } }>();
export { type FragmentOf, type ResultOf, readFragment } from 'gql.tada';
