import { createServer } from 'node:http';
import { makeExecutableSchema } from '@graphql-tools/schema';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { typeDefs } from '../../fan-out/servers/room-events.ts';
import { listen } from '../../support/listen.ts';

/* ws and graphql-ws without another server. Its subscriptions never deliver an event; they measure the memory of an idle subscriber. */

const silent = () => {
  const stream = {
    next: () => new Promise(() => {}),
    return: async () => ({ done: true, value: undefined }),
    [Symbol.asyncIterator]: () => stream,
  };
  return stream;
};

const resolvers = { Subscription: { roomEvents: { subscribe: silent } } };
const schema = makeExecutableSchema({ typeDefs, resolvers });
const server = createServer((_, response) => response.end('{}'));
useServer({ schema }, new WebSocketServer({ server, path: '/graphql' }));
listen(server);
