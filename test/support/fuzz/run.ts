import fc from 'fast-check';
import { choices } from '../clients/choices.ts';
import { createHttpCase, sendHttpCase } from './http.ts';
import { eachOf, Tally, type Target } from './target.ts';
import { createSocketCase, runSocketCase } from './websocket.ts';

export interface FuzzOptions {
  seed: number;
  runs: number;
  /** Called at intervals with the number of finished cases. */
  onProgress?: (done: number) => void;
}

const chunk = 100;
const maxSteps = 40;
const decisionsAStep = 100;

/** Sends `runs` requests over HTTP. */
export async function fuzzHttp(target: Target, options: FuzzOptions): Promise<Tally> {
  const tally = new Tally();
  const cases = progress(tapes(options, 400), options, () => 1);
  await eachOf(cases, (tape) => sendHttpCase(target, tally, createHttpCase(target, tape)));
  return tally;
}

/** Sends `runs` messages over WebSockets, up to 40 on each. */
export async function fuzzWebSocket(target: Target, options: FuzzOptions): Promise<Tally> {
  const tally = new Tally();
  const cases = tapes(options, maxSteps * decisionsAStep).map((tape) => createSocketCase(target, tape, maxSteps));
  await eachOf(
    progress(cases, options, ({ steps }) => steps.length),
    (one) => runSocketCase(target, tally, one),
  );
  return tally;
}

/** An infinite sequence of tapes that depends on the seed only. */
function* tapes({ seed }: FuzzOptions, length: number) {
  for (let round = 0; ; round += 1)
    yield* fc.sample(choices(length / 2, length), { seed: seed + round, numRuns: chunk });
}

function* progress<T>(items: Iterable<T>, { runs, onProgress }: FuzzOptions, weigh: (item: T) => number): Generator<T> {
  let done = 0;
  for (const item of items) {
    if (done >= runs) return;
    const before = Math.floor(done / 1_000);
    done += weigh(item);
    yield item;
    if (Math.floor(done / 1_000) > before) onProgress?.(done);
  }
}
