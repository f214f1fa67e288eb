import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import possibleTypes from './possible-types.json' with { type: 'json' };

const isPartOfItsParent = () => null; // It has no id.

export const createCache = () =>
  cacheExchange({
    possibleTypes,
    keys: {
      PostPage: isPartOfItsParent,
      RoomPage: isPartOfItsParent,
      UserPage: isPartOfItsParent,
      Pagination: isPartOfItsParent,
    },
    // Pages of a connection are joined; select `edges { cursor node { … } }` and `pageInfo`, not `nodes`.
    resolvers: { Room: { posts: relayPagination(), members: relayPagination() } },
  });
