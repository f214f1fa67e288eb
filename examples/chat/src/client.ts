import type { FieldMergeFunction } from '@apollo/client';
import { ApolloClient, ApolloLink, CombinedGraphQLErrors, HttpLink, InMemoryCache } from '@apollo/client';
import { ErrorLink } from '@apollo/client/link/error';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { OperationTypeNode } from 'graphql';
import type { PostPageFragment } from './gql/graphql.ts';
import { live, serverUrl } from './live.ts';
import possibleTypes from './possible-types.json';
import { endSession, session } from './session.ts';

/** A page of older posts is put before the others, unless they were replaced after it was requested. */
const mergePosts: FieldMergeFunction<PostPageFragment> = (existing, incoming, { args }) => {
  if (!existing || !args?.['before']) return incoming;
  if (args['before'] !== existing.pageInfo.startCursor) return existing;
  return { ...incoming, nodes: [...incoming.nodes, ...existing.nodes] };
};

const headers = session ? { authorization: `Bearer ${session.accessToken}` } : {};
const http = new HttpLink({ uri: serverUrl, headers });

const refusal = new ErrorLink(({ error }) => {
  if (session && CombinedGraphQLErrors.is(error) && error.errors[0]?.extensions?.['code'] === 'UNAUTHENTICATED')
    endSession();
});

/** Subscriptions use the WebSocket, which resumes them. It would also repeat mutations, so these use HTTP. */
const link = ApolloLink.split(
  ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
  new GraphQLWsLink(live),
  ApolloLink.from([refusal, http]),
);

const posts = { keyArgs: false, merge: mergePosts } as const;
const replaced = { merge: false } as const;
const cache = new InMemoryCache({
  possibleTypes,
  typePolicies: {
    Room: { fields: { posts, members: replaced } },
    Subscription: { fields: { roomEvents: replaced, inbox: replaced } },
  },
});

export const client = new ApolloClient({ link, cache });
