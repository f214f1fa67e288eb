import { InMemoryCache } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';
import possibleTypes from './possible-types.json' with { type: 'json' };

export const createCache = () =>
  new InMemoryCache({
    possibleTypes,
    typePolicies: {
      // Pages of a connection are joined; select `edges { cursor node { … } }` and `pageInfo`, not `nodes`.
      Room: { fields: { posts: relayStylePagination(), members: relayStylePagination() } },
    },
  });
