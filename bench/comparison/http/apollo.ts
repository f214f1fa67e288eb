import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { loadSchema } from '../../http/schema.ts';

/* Apollo Server, set up as in its documentation. */

const { typeDefs, resolvers, createContext } = await loadSchema();
const server = new ApolloServer({ typeDefs, resolvers: resolvers as object });
const { url } = await startStandaloneServer(server, {
  listen: { port: 0, host: '127.0.0.1' },
  context: async () => createContext(),
});
console.log(`The server is at ${new URL('/graphql', url)}`);
