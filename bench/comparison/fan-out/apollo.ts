import { createServer } from 'node:http';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginDrainHttpServer } from '@apollo/server/plugin/drainHttpServer';
import { expressMiddleware } from '@as-integrations/express5';
import { makeExecutableSchema } from '@graphql-tools/schema';
import express from 'express';
import { PubSub } from 'graphql-subscriptions';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { createEvent, Post, readPublication, typeDefs } from '../../fan-out/servers/room-events.ts';
import { listen } from '../../support/listen.ts';

/* Apollo Server with graphql-ws and graphql-subscriptions, set up as in its documentation. */

const pubSub = new PubSub();
const schema = makeExecutableSchema({
  typeDefs,
  resolvers: {
    Post,
    Subscription: {
      roomEvents: { subscribe: (_: unknown, { room }: { room: string }) => pubSub.asyncIterableIterator(room) },
    },
  },
});

const app = express();
const server = createServer(app);
useServer({ schema }, new WebSocketServer({ server, path: '/graphql' }));
const apollo = new ApolloServer({ schema, plugins: [ApolloServerPluginDrainHttpServer({ httpServer: server })] });
await apollo.start();
app.use('/graphql', express.json(), expressMiddleware(apollo));
app.post('/publish', async (request, response) => {
  const { rooms = [], title = '', body = '' } = readPublication(request.url) ?? {};
  for (const room of rooms) await pubSub.publish(room, { roomEvents: createEvent(title, body) });
  response.end('{}');
});
listen(server);
