import { createPostroomClient } from '@postroom/client';
import type { TadaDocumentNode } from 'gql.tada';
import { print } from 'graphql';
import { createClient } from 'graphql-ws';

/** Queries and mutations over HTTP, subscriptions over a WebSocket that resumes. */
export function createPostroom({ url, token }: { url: string; token?: string | undefined }) {
  const { live, request } = createPostroomClient({ url, createClient, token });

  return {
    /** Rejects with an error for `failureOf`. */
    execute: <Data, Variables>(document: TadaDocumentNode<Data, Variables>, variables: Variables) =>
      request<Data>(print(document), variables as Record<string, unknown>),

    /** Yields results. A stream that ends with errors, or is refused, throws the array of its errors. */
    subscribe: <Data, Variables>(document: TadaDocumentNode<Data, Variables>, variables: Variables) =>
      live.iterate<Data>({ query: print(document), variables: variables as Record<string, unknown> }),

    close: () => live.dispose(),
  };
}
