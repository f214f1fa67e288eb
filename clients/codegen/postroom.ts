import { createPostroomClient } from '@postroom/client';
import { createClient } from 'graphql-ws';
import type { TypedDocumentString } from './gql/graphql.ts';

export interface Options {
  url: string;
  token?: string | undefined;
  /** Sends the hashes of documents instead of their texts, for a server with `TRUSTED_DOCUMENTS`. */
  isTrusted?: boolean;
}

/** Queries and mutations over HTTP, subscriptions over a WebSocket that resumes. */
export function createPostroom({ url, token, isTrusted = false }: Options) {
  const { live } = createPostroomClient({ url, createClient, token });
  const createRequest = <Variables>(document: TypedDocumentString<unknown, Variables>, variables: Variables) => ({
    ...(isTrusted ? { query: '', documentId: document.__meta__?.['hash'] } : { query: document.toString() }),
    variables: variables as Record<string, unknown>,
  });

  return {
    /** Rejects with an error for `failureOf`. */
    async execute<Data, Variables>(
      document: TypedDocumentString<Data, Variables>,
      variables: Variables,
    ): Promise<Data> {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
        body: JSON.stringify(createRequest(document, variables)),
      });
      const { data, errors }: { data?: Data; errors?: { message: string }[] } = await response.json();
      if (errors || !data) throw Object.assign(new Error(errors?.[0]?.message), { errors, status: response.status });
      return data;
    },

    /** Yields results. A stream that ends with errors, or is refused, throws the array of its errors. */
    subscribe: <Data, Variables>(document: TypedDocumentString<Data, Variables>, variables: Variables) =>
      live.iterate<Data>(createRequest(document, variables)),

    close: () => live.dispose(),
  };
}
