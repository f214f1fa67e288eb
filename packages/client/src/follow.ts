import type { PostroomClient } from './client.ts';
import { type Failure, failureOf, retryOf } from './failure.ts';
import type { Request } from './sink.ts';

export interface Followed<Data> {
  client: PostroomClient;
  /**
   * Queries what is followed. Its result applies the answer, and returns the variables of the subscription: `after` is
   * the cursor of the answer.
   */
  query: () => Promise<() => Record<string, unknown>>;
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
  onCaughtUp = () => {},
  onFailure,
}: Followed<Data>): () => void {
  let attempt = 0;
  let unsubscribe = () => {};
  let timer: ReturnType<typeof setTimeout>;
  /** The present run: what an earlier one receives is ignored. */
  let current: object | undefined;
  const owner = {};

  function startIn(ms: number): void {
    current = undefined;
    unsubscribe();
    unsubscribe = () => {};
    clearTimeout(timer);
    timer = setTimeout(() => void start(), ms);
  }

  function fail(error: unknown, canQuery = false): void {
    const failure = failureOf(error);
    // The events are no longer available, or the cursor is not one of this history: at first without a delay.
    const isLost = canQuery || failure.action === 'query';
    const ms = isLost ? 1_000 * attempt : retryOf(error, { isSafe: true, attempt });
    attempt += 1;
    if (isLost) client.setQuerying(owner, true);
    onFailure(failure);
    if (ms !== undefined) startIn(ms);
    else client.setQuerying(owner, false);
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
      const applyAnswer = await query();
      if (current !== run) return;
      const request: Request = { query: subscription, variables: applyAnswer() };
      onFailure();
      const end = ifCurrent(() => {
        attempt = 0;
        client.setQuerying(owner, false);
        onCaughtUp();
      });
      client.onCaughtUp(request, () => end(undefined));
      unsubscribe = client.live.subscribe<Data>(request, {
        next: ifCurrent(({ data, errors }) => {
          // The query has the state after an event that the server could not execute.
          if (!data) return fail({ errors }, true);
          try {
            if (!apply(data)) startIn(queryAgainMs);
            attempt = 0;
          } catch (error) {
            // What the event has changed is unknown. It is reported, too.
            fail(error, true);
            throw error;
          }
        }),
        error: ifCurrent((error) => fail(error)),
        complete: () => {},
      });
    } catch (error) {
      ifCurrent(() => fail(error))(undefined);
    }
  }

  void start();
  return () => {
    current = undefined;
    clearTimeout(timer);
    unsubscribe();
    client.setQuerying(owner, false);
  };
}
