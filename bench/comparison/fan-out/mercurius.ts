import Fastify from 'fastify';
import mercurius from 'mercurius';
import { createEvent, Post, readPublication, typeDefs } from '../../fan-out/servers/room-events.ts';
import { printUrl } from '../../support/listen.ts';

/* Mercurius with its own subscriptions and emitter. */

const app = Fastify();
await app.register(mercurius, {
  schema: typeDefs,
  jit: 1,
  subscription: true,
  resolvers: {
    Post,
    Subscription: {
      roomEvents: { subscribe: (_, { room }: { room: string }, { pubsub }) => pubsub.subscribe(room) },
    },
  },
});
app.post('/publish', async (request) => {
  const { rooms = [], title = '', body = '' } = readPublication(request.url) ?? {};
  const payload = { roomEvents: createEvent(title, body) };
  for (const topic of rooms) app.graphql.pubsub.publish({ topic, payload });
  return {};
});
await app.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
printUrl(app.server);
