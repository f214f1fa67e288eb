import { ApolloClient, ApolloLink, HttpLink } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { OperationTypeNode } from 'graphql';
import { createCache } from './cache.ts';
import { persisted } from './persisted.ts';
import { postroom } from './postroom.ts';
import { retry } from './retry.ts';
import { token, url } from './settings.ts';

const http = new HttpLink({ uri: url, headers: token ? { authorization: `Bearer ${token}` } : {} });

export const client = new ApolloClient({
  cache: createCache(),
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new GraphQLWsLink(postroom.live),
    ApolloLink.from([retry, persisted, http]),
  ),
});
