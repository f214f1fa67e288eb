import { expect, it } from 'vitest';
import { fuzzHttp, fuzzWebSocket } from '../../support/fuzz/run.ts';
import { createTarget, faultLinesOf, fuzzSettings } from '../../support/fuzz/target.ts';
import { launchForTest } from '../../support/server/postroom.ts';

/* A short run of `npm run fuzz`. The option `--seed` with the seed in the title repeats a run. */

const runs = 600;

it.each([
  1,
  Math.floor(Math.random() * 2 ** 31),
])('valid and hostile input gets an answer that is its own fault, seed %i', async (seed) => {
  const postroom = await launchForTest(fuzzSettings);
  const target = await createTarget(postroom);
  const http = await fuzzHttp(target, { seed, runs });
  expect(http.faults).toEqual([]);
  const webSocket = await fuzzWebSocket(target, { seed, runs });
  expect(webSocket.faults).toEqual([]);
  // The runs must include both valid and invalid requests.
  expect(http.counts.get('HTTP 200')).toBeGreaterThan(runs / 20);
  expect(http.counts.get('GRAPHQL_PARSE_FAILED')).toBeGreaterThan(0);
  expect(webSocket.counts.get('message next')).toBeGreaterThan(runs / 20);
  expect(webSocket.counts.get('message error')).toBeGreaterThan(0);
  expect(await postroom.stop()).toBe(0);
  expect(faultLinesOf(postroom)).toEqual([]);
}, 120_000);
