import { createServer } from 'node:http';
import { makeExecutableSchema } from '@graphql-tools/schema';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { listen, typeDefs } from './peer.ts';

/* ws and graphql-ws with nothing behind them: subscriptions that never say anything, for the memory of an idle one. */

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
