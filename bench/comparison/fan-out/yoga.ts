import { createServer } from 'node:http';
import type { ExecutionArgs, execute, subscribe } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { createPubSub, createSchema, createYoga } from 'graphql-yoga';
import { WebSocketServer } from 'ws';
import { createEvent, Post, readPublication, typeDefs } from '../../fan-out/servers/room-events.ts';
import { listen } from '../../support/listen.ts';

/* Yoga with graphql-ws, set up as in its documentation. */

type Event = ReturnType<typeof createEvent>;
type Enveloped = { execute: typeof execute; subscribe: typeof subscribe };

const pubSub = createPubSub<{ room: [id: string, event: Event] }>();
const yoga = createYoga({
  logging: false,
  schema: createSchema({
    typeDefs,
    resolvers: {
      Post,
      Subscription: {
        roomEvents: {
          subscribe: (_: unknown, { room }: { room: string }) => pubSub.subscribe('room', room),
          resolve: (event: Event) => event,
        },
      },
    },
  }),
});

const server = createServer((request, response) => {
  const publication = readPublication(request.url);
  if (!publication) return yoga(request, response);
  const event = createEvent(publication.title, publication.body);
  for (const room of publication.rooms) pubSub.publish('room', room, event);
  response.end('{}');
});

useServer(
  {
    execute: (args) => (args.rootValue as Enveloped).execute(args),
    subscribe: (args) => (args.rootValue as Enveloped).subscribe(args),
    async onSubscribe(context, _id, params) {
      const enveloped = yoga.getEnveloped({
        ...context,
        req: context.extra.request,
        socket: context.extra.socket,
        params,
      });
      const args: ExecutionArgs = {
        schema: enveloped.schema,
        operationName: params.operationName ?? null,
        document: enveloped.parse(params.query),
        variableValues: params.variables ?? null,
        contextValue: await enveloped.contextFactory(),
        rootValue: { execute: enveloped.execute, subscribe: enveloped.subscribe },
      };
      const errors = enveloped.validate(args.schema, args.document);
      return errors.length > 0 ? errors : args;
    },
  },
  new WebSocketServer({ server, path: yoga.graphqlEndpoint }),
);
listen(server);
