import type { TadaDocumentNode } from 'gql.tada';
import { print } from 'graphql';
import { createClient } from 'graphql-ws';
import { resumable } from './resumable.js';

interface Failure {
  message: string;
  path?: (string | number)[];
  extensions: { code: string; retryAfterMs?: number };
}

export class PostroomError extends Error {
  readonly failures: Failure[];

  constructor(failures: Failure[]) {
    super(failures.map(({ message }) => message).join('\n'));
    this.failures = failures;
  }
}

export interface Options {
  url: string;
  authorization?: string;
}

/** Queries and mutations over HTTP, subscriptions over a WebSocket that resumes. */
export function createPostroom({ url, authorization }: Options) {
  const { connectionParams, ...resume } = resumable();
  const credentials = authorization && { authorization };
  const live = createClient({
    url: url.replace('http', 'ws'),
    retryAttempts: Number.POSITIVE_INFINITY,
    retryWait: (retries) =>
      new Promise((retry) => setTimeout(retry, Math.random() * Math.min(5_000, 500 * 2 ** retries))),
    shouldRetry: (event) => (event as CloseEvent).code !== 4403, // credentials that were refused are refused again
    connectionParams: () => ({ ...connectionParams(), ...credentials }),
    ...resume,
  });
  const createRequest = <Variables>(document: TadaDocumentNode<unknown, Variables>, variables: Variables) => ({
    query: print(document),
    variables: variables as Record<string, unknown>,
  });

  return {
    async execute<Data, Variables>(document: TadaDocumentNode<Data, Variables>, variables: Variables): Promise<Data> {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...credentials },
        body: JSON.stringify(createRequest(document, variables)),
      });
      const { data, errors }: { data?: Data; errors?: Failure[] } = await response.json();
      if (errors || !data) throw new PostroomError(errors ?? []);
      return data;
    },

    /** Yields results. A stream that ends with errors, or is refused, throws the array of its errors. */
    subscribe: <Data, Variables>(document: TadaDocumentNode<Data, Variables>, variables: Variables) =>
      live.iterate<Data>(createRequest(document, variables)),

    close: () => live.dispose(),
  };
}
