import { createServer } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';
import { loadSchema } from '../../http/schema.ts';
import { listen } from '../../support/listen.ts';

/* Yoga, set up as in its documentation, without logging. */

const { typeDefs, resolvers, createContext } = await loadSchema();
const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers: resolvers as object }),
  context: createContext,
  logging: false,
});
listen(createServer(yoga));
