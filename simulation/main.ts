import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../src/data/database/open-database.ts';
import { loadExtensions } from '../src/engine/extensions/load.ts';
import { loadSchema } from '../src/engine/schema.ts';
import type { LoadedExtension } from '../src/resolvers/extensions/extension.ts';
import { Extensions } from '../src/resolvers/extensions/extensions.ts';
import { recordVersions } from './model.ts';
import { readOptions } from './options.ts';
import { runMutants } from './run-mutants.ts';
import { findShortest, tellStory } from './story.ts';
import { noteSeed, startWatchdog } from './watchdog.ts';
import { type RunOptions, type Shared, World } from './world.ts';

/* Runs the live layer on virtual time, with faults that a seed decides, and compares what clients receive with a model. */

const users = Array.from({ length: 6 }, (_, index) => `u${String(index + 1).padStart(26, '0')}`);

const extensionFolders = ['tasks', 'reactions'].map((name) =>
  fileURLToPath(new URL(`../examples/extensions/${name}`, import.meta.url)),
);

const { seed: first, seeds, seconds, maxSteps, only, mutants, story, quick } = readOptions();
if (mutants === undefined) await simulate();
else runMutants(mutants, seeds);

async function simulate(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-simulation-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  startWatchdog();
  const loaded = await loadExtensions(extensionFolders);
  const typesOf = (all: LoadedExtension[]) => ({ schema: loadSchema(all), extensions: new Extensions(all) });
  const types = { own: typesOf([]), extended: typesOf(loaded) };
  const shared = { types, template: await createTemplate(folder, loaded), users };
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  console.log(`The first seed is ${first}.`);
  const sums = { steps: 0, delivered: 0, notices: 0 };
  const counts = new Map<string, { times: number; seeds: number }>();
  let seed = first;
  for (; seed < first + seeds && performance.now() < endsAt; seed += 1) {
    const options = { seed, maxSteps, only };
    noteSeed(seed);
    const outcome = await new World(options, shared).run();
    if (story) console.log(outcome.story.join('\n'));
    if (outcome.defect !== undefined) return report(options, shared);
    for (const name of ['steps', 'delivered', 'notices'] as const) sums[name] += outcome[name];
    for (const [fault, times] of Object.entries(outcome.faults)) {
      const count = counts.get(fault) ?? { times: 0, seeds: 0 };
      counts.set(fault, { times: count.times + times, seeds: count.seeds + Number(times > 0) });
    }
  }
  const perSecond = Math.round((sums.steps * 1_000) / (performance.now() - startedAt));
  console.log(`${seed - first} seeds, no defect: ${sums.steps} steps, ${perSecond} per second.`);
  console.log(
    `${sums.delivered} events were delivered, and ${sums.notices} clients were notified that they missed some.`,
  );
  const injected = Array.from(counts, ([fault, { times, seeds: count }]) => `${fault} ${times} in ${count} seeds`);
  console.log(`Faults: ${injected.join(', ')}.`);
  const hasDoneNothing = sums.delivered === 0 || counts.values().every(({ times }) => times === 0);
  if (hasDoneNothing && maxSteps === Number.POSITIVE_INFINITY)
    throw new Error('The runs delivered nothing, or had no fault.');
}

/** Prints the story of a defect, and the shortest run that still has it. */
async function report(options: RunOptions, shared: Shared): Promise<void> {
  const run = (maxSteps: number) => new World({ ...options, maxSteps }, shared).run();
  const { steps, outcome } = quick
    ? { steps: options.maxSteps, outcome: await run(options.maxSteps) }
    : await findShortest(run, options.maxSteps);
  console.log(tellStory(outcome));
  const prefix = steps === Number.POSITIVE_INFINITY ? '' : ` --steps ${steps}`;
  console.log(`Defect with seed ${options.seed}, found in step ${outcome.steps}: ${outcome.defect}`);
  console.log(
    `Repeat it: npm run simulate -- --seed ${options.seed}${prefix}${only.length > 0 ? ` --only ${only.join()}` : ''}`,
  );
  process.exitCode = 1;
}

/** A database with users and the tables of the extensions, which each run copies. */
async function createTemplate(folder: string, extensions: LoadedExtension[]): Promise<string> {
  const path = join(folder, 'template.db');
  await (await openDatabase(`sqlite:${path}`, { extensions })).close();
  using database = new DatabaseSync(path);
  const insert = database.prepare(
    "insert into users (id, name, role, sessionsFrom, createdAt, updatedAt, version) values (?, ?, 'MEMBER', 0, 0, 0, 1)",
  );
  for (const [index, id] of users.entries()) insert.run(id, `User ${index + 1}`);
  database.exec(recordVersions);
  database.exec('pragma wal_checkpoint(truncate); pragma journal_mode = delete');
  return path;
}
