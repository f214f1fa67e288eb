import { createClient, type ExecutionResult, type RequestParams, type Sink } from 'graphql-sse';
import { url } from './settings.ts';

interface Live {
  [key: string]: unknown;
  live?: { cursor: string };
}

/** The events of a room; it resumes, and `variables.after` is the cursor at which it starts. */
export function openSse(token: string | undefined) {
  const last = new WeakMap<RequestParams, string>(); // the last cursor of each request
  const client = createClient({
    url,
    headers: (request) => {
      const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
      const cursor = last.get(request);
      return cursor ? { ...headers, 'last-event-id': cursor } : headers;
    },
  });
  /** Like `subscribe` of the client; the operation must have an `after`, from which it resumes before its first event. */
  function subscribe<Data>(request: RequestParams, sink: Sink<ExecutionResult<Data, Live>>): () => void {
    const next = (result: ExecutionResult<Data, Live>) => {
      if (result.extensions?.live) last.set(request, result.extensions.live.cursor);
      sink.next(result);
    };
    return client.subscribe<Data, Live>(request, { ...sink, next });
  }
  return { ...client, subscribe };
}
