import type { PostroomClient, Request } from './client.ts';
import { type Failure, failureOf, retryOf } from './failure.ts';

export interface Followed<Data> {
  client: PostroomClient;
  /** Queries what is followed, and returns the variables of the subscription: its `after` is the cursor of the query. */
  query: () => Promise<Record<string, unknown>>;
  subscription: string;
  /** Applies an event. Returns false if it cannot: then everything is queried again. */
  apply: (data: Data) => boolean;
  /** The events that come from now on are newer than the query. */
  onCaughtUp?: () => void;
  /** It has failed, and is tried again if the failure is temporary. Called without a failure when it works again. */
  onFailure: (failure?: Failure) => void;
}

/** A pause that lets many events cause one query. */
const queryAgainMs = 500;

/** Queries, then applies the events after the query, and queries again when they cannot continue; until the result is called. */
export function follow<Data>({
  client,
  query,
  subscription,
  apply,
  onCaughtUp,
  onFailure,
}: Followed<Data>): () => void {
  let attempt = 0;
  let unsubscribe = () => {};
  let timer: ReturnType<typeof setTimeout>;
  /** The present run: what an earlier one receives is ignored. */
  let current: object | undefined;

  function startIn(ms: number): void {
    current = undefined;
    unsubscribe();
    unsubscribe = () => {};
    clearTimeout(timer);
    timer = setTimeout(() => void start(), ms);
  }

  function fail(error: unknown): void {
    const failure = failureOf(error);
    // The events are no longer available, or the cursor is not one of this history: at first without a delay.
    const ms = failure.action === 'query' ? 1_000 * attempt : retryOf(error, { isSafe: true, attempt });
    attempt += 1;
    onFailure(failure);
    if (ms !== undefined) startIn(ms);
  }

  async function start(): Promise<void> {
    const run = {};
    current = run;
    const ifCurrent =
      <Value>(act: (value: Value) => void) =>
      (value: Value) => {
        if (current === run) act(value);
      };
    try {
      const variables = await query();
      if (current !== run) return;
      onFailure();
      const request: Request = { query: subscription, variables };
      if (onCaughtUp) client.onCaughtUp(request, () => ifCurrent(onCaughtUp)(undefined));
      unsubscribe = client.live.subscribe<Data>(request, {
        next: ifCurrent(({ data, errors }) => {
          if (!data) return fail({ errors });
          attempt = 0;
          if (!apply(data)) startIn(queryAgainMs);
        }),
        error: ifCurrent(fail),
        complete: () => {},
      });
    } catch (error) {
      ifCurrent(fail)(error);
    }
  }

  void start();
  return () => {
    current = undefined;
    clearTimeout(timer);
    unsubscribe();
  };
}
