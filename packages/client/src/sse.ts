import { type Request, type Result, type Sink, toSafeSink } from './sink.ts';

/** What this package uses of a client of graphql-sse, in its mode of one connection for each subscription. */
export interface SseClient {
  // biome-ignore lint/suspicious/noExplicitAny: the request and the sink of graphql-sse.
  subscribe: (request: any, sink: any) => () => void;
  // biome-ignore lint/suspicious/noExplicitAny: the request and the results of graphql-sse.
  iterate: (request: any) => AsyncIterableIterator<any>;
  dispose: () => void;
}

export interface ResumableSseOptions<Client extends SseClient> {
  /** The URL of the server. */
  url: string;
  /** `createClient` of graphql-sse. */
  // biome-ignore lint/suspicious/noExplicitAny: its options depend on the version of graphql-sse.
  createClient: (options: any) => Client;
  token?: string | undefined;
  /** More options for graphql-sse. */
  sse?: Record<string, unknown>;
}

/**
 * A client of graphql-sse whose subscriptions resume. Pass the cursor of a query as `after`, or, for an inbox, those of
 * `viewer { cursor rooms { nodes { cursor } } }`: graphql-sse ignores the position at which a stream starts.
 */
export function resumableSse<Client extends SseClient>({
  url,
  createClient,
  token,
  sse,
}: ResumableSseOptions<Client>): Client {
  const last = new WeakMap<object, string>();
  const client = createClient({
    url,
    ...sse,
    headers: (request: object) => ({
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(last.has(request) && { 'last-event-id': last.get(request) }),
    }),
  });
  /** The request with which it resumes, and a function that stores the cursors of a result. */
  function track(request: Request) {
    const { variables } = request;
    /** Of an inbox, by room and user: it resumes by `after`, because `Last-Event-ID` is one cursor. */
    const cursors = new Map<string, string>();
    const resumed = {
      ...request,
      // Read for each connection.
      get variables() {
        const after = [...((variables?.['after'] as string[] | undefined) ?? []), ...cursors.values()];
        return cursors.size > 0 ? { ...variables, after } : variables;
      },
    };
    const see = (result: Result) => {
      // biome-ignore lint/suspicious/noExplicitAny: each of its properties is optional.
      const { room, cursor, ended, cursors: moved = {} } = (result.extensions?.['live'] ?? {}) as any;
      if (ended) cursors.delete(room);
      else if (room) cursors.set(room, cursor);
      else if (cursor) last.set(resumed, cursor);
      for (const [id, own] of Object.entries(moved)) cursors.set(id, own as string);
    };
    return { resumed, see };
  }

  function subscribe<Data>(request: Request, sink: Sink<Data>): () => void {
    const { resumed, see } = track(request);
    const safeSink = toSafeSink(sink);
    const next = (result: Result<Data>) => {
      see(result);
      safeSink.next(result);
    };
    return client.subscribe(resumed, { ...safeSink, next });
  }

  function iterate(request: Request) {
    const { resumed, see } = track(request);
    const results = client.iterate(resumed);
    const next = results.next.bind(results);
    results.next = async () => {
      const result = await next();
      if (!result.done) see(result.value);
      return result;
    };
    return results;
  }

  return { ...client, subscribe, iterate };
}
