import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { announce, loadSubject } from '../subject.ts';

/* Apollo Server as its documentation starts it. */

const { typeDefs, resolvers, createContext } = await loadSubject();
const server = new ApolloServer({ typeDefs, resolvers: resolvers as object });
const { url } = await startStandaloneServer(server, {
  listen: { port: 0, host: '127.0.0.1' },
  context: async () => createContext(),
});
announce(Number(new URL(url).port));
