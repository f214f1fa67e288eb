import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSchema, createYoga } from 'graphql-yoga';
import { announce, loadSubject } from '../subject.ts';

/* Yoga as its documentation starts it, without its log. */

const { typeDefs, resolvers, createContext } = await loadSubject();
const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers: resolvers as object }),
  context: createContext,
  logging: false,
});
const server = createServer(yoga);
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => announce((server.address() as AddressInfo).port));
