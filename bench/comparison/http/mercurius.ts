import Fastify from 'fastify';
import mercurius from 'mercurius';
import { loadSchema } from '../../http/schema.ts';
import { printUrl } from '../../support/listen.ts';

/* Mercurius, set up as in its documentation. JIT is the number of executions of a document after which it is compiled. */

const { typeDefs, resolvers, createContext } = await loadSchema();
const app = Fastify();
const jit = process.env['JIT'] === undefined ? {} : { jit: Number(process.env['JIT']) };
await app.register(mercurius, { schema: typeDefs, resolvers: resolvers as object, context: createContext, ...jit });
await app.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
printUrl(app.server);
