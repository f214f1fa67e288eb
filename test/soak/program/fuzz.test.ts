import { expect, it } from 'vitest';
import { loadSchema } from '../../../src/engine/schema.ts';
import type { Case } from '../../support/fuzz/case.ts';
import { fuzz } from '../../support/fuzz/run.ts';
import { shrink } from '../../support/fuzz/shrink.ts';
import { type Settings, startInProcess } from '../../support/server/postroom.ts';

/* A short run of `npm run fuzz`. The option `--seed` with the seed in the title repeats a run. */

it.each([
  1,
  Math.floor(Math.random() * 2 ** 31),
])('valid and hostile input gets an answer that is its own fault, seed %i', async (seed) => {
  const { findings, counts } = await fuzz({ seed, runs: 6_000, launch: startInProcess });
  expect(findings).toEqual([]);
  const random = await fuzz({ seed, runs: 2_000, only: 'random', launch: startInProcess });
  expect(random.findings).toEqual([]);
  // The runs must include both valid and invalid requests.
  for (const what of ['HTTP 200', 'GRAPHQL_PARSE_FAILED', 'message next', 'message error', 'import exited with 2'])
    expect(counts.get(what), what).toBeGreaterThan(0);
}, 300_000);

it('a fault is reported with the shortest input that causes it', async () => {
  const messages = ['{"type":"ping"}', '{"type":"ping","id":null,"payload":{"a":[1]}}', '{"type":"complete","id":"a"}'];
  const found: Case = {
    transport: 'websocket',
    name: 'websocket ping',
    steps: messages.map((text) => ({ kind: 'text', text })),
  };
  const isPingWithNull = async ({ steps }: Case) =>
    steps.some(({ text }) => /^{"type":"ping".*"id":null.*}$/.test(text));
  const { shortest } = await shrink(found, isPingWithNull);
  expect(shortest.steps).toEqual([{ kind: 'text', text: '{"type":"ping""id":null}' }]);
});

it('a resolver that fails for a null is found', async () => {
  const schema = loadSchema();
  const posts = schema.getQueryType()?.getFields()['posts'];
  const resolve = posts?.resolve;
  if (!posts || !resolve) throw new Error('There is no resolver of posts.');
  posts.resolve = (source, args, context, info) => {
    if (args['filter'] === null) throw new TypeError('The filter is null.');
    return resolve(source, args, context, info);
  };
  const launch = (settings: Settings) => startInProcess(settings, { schema });
  const { findings } = await fuzz({ seed: 1, runs: 200, only: 'POST query json', launch });
  const found = findings.find(({ what }) => what === 'status 500');
  expect(found?.shortest?.steps[0]?.text).toMatch(/"filter":null/);
}, 120_000);
