import { ApolloClient, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { subscriptionExchange, Client as UrqlClient } from '@urql/core';
import { createClient as createSseClient, type Client as SseClient } from 'graphql-sse';
import type { Client, Sink } from 'graphql-ws';
import { resumableSse } from '../../../packages/client/src/index.ts';

/* Published clients with the connections of @postroom/client. */

export function createApollo(live: Client): ApolloClient {
  return new ApolloClient({ link: new GraphQLWsLink(live), cache: new InMemoryCache() });
}

/** It sends subscriptions only. */
export function createUrql(live: Client): UrqlClient {
  const subscriptions = subscriptionExchange({
    forwardSubscription: ({ query = '', variables }) => ({
      subscribe: (sink) => ({ unsubscribe: live.subscribe({ query, variables }, sink as Sink) }),
    }),
  });
  return new UrqlClient({ url: 'http://127.0.0.1:1', exchanges: [subscriptions] });
}

export function openSse(url: string, retryWaitMs: number, token?: string): SseClient {
  const retry = () => new Promise<void>((resolve) => setTimeout(resolve, retryWaitMs));
  return resumableSse({ url, createClient: createSseClient, token, sse: { retry } });
}
