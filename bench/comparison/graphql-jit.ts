import { makeExecutableSchema } from '@graphql-tools/schema';
import { parse } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';

/** Compiles a query with graphql-jit, with its own schema object. */
export function compileByJit(typeDefs: string, resolvers: object, query: string): () => unknown {
  const compiled = compileQuery(makeExecutableSchema({ typeDefs, resolvers: resolvers as never }), parse(query));
  if (!isCompiledQuery(compiled)) throw new Error(JSON.stringify(compiled));
  return () => compiled.query({}, {}, {});
}
