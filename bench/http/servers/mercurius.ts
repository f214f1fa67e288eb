import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import mercurius from 'mercurius';
import { announce, loadSubject } from '../subject.ts';

/* Mercurius as its documentation sets it up; JIT=1 compiles a document from its first use on. */

const { typeDefs, resolvers, createContext } = await loadSubject();
const app = Fastify();
const jit = process.env['JIT'] === undefined ? {} : { jit: Number(process.env['JIT']) };
await app.register(mercurius, { schema: typeDefs, resolvers: resolvers as object, context: createContext, ...jit });
await app.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
announce((app.server.address() as AddressInfo).port);
