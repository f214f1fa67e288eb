import Fastify from 'fastify';
import mercurius from 'mercurius';
import { announce, createEvent, Post, readPublication, typeDefs } from './peer.ts';

/* Mercurius with the subscriptions and the emitter of its own. */

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
announce(app.server);
