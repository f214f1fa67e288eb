import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { inRepository } from '../repository.ts';
import { runNpm } from './npm.ts';
import { type Delivery, followThroughRestarts } from './restarts.ts';
import { Server } from './server.ts';

export interface Result {
  name: string;
  seconds: number;
  /** The number of checks that passed. */
  checks: number;
  /** By script. */
  deliveries: Map<string, Delivery>;
  /** The command that failed, if the client was skipped for it. */
  missing?: string;
  failures: string[];
}

interface Package {
  scripts: Record<string, string>;
}

/** The path of the documents that the script `documents` of a client writes. */
const trustedDocuments = 'trusted-documents.json';

/** Runs everything that a client in clients/ shows. */
export async function runClient(name: string, restarts: number): Promise<Result> {
  const result: Result = { name, seconds: 0, checks: 0, deliveries: new Map(), failures: [] };
  const startedAt = performance.now();
  try {
    await runScripts(result, inRepository(`clients/${name}`), restarts);
  } catch (error) {
    result.failures.push(error instanceof Error ? error.message : String(error));
  }
  result.seconds = (performance.now() - startedAt) / 1_000;
  return result;
}

async function runScripts(result: Result, folder: string, restarts: number): Promise<void> {
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package;
  const needs = scripts['needs'];
  if (needs !== undefined && !(await runNpm(folder, ['run', 'needs'])).succeeded) {
    result.missing = needs;
    return;
  }
  await install(folder);
  await check(result, folder, 'test');
  if ('test:trusted' in scripts) await checkTrusted(result, folder);
  const followers = Object.keys(scripts).filter((script) => script.startsWith('follow'));
  // All of them end before the folder is used again.
  const followed = await Promise.allSettled(followers.map((script) => follow(result, folder, script, restarts)));
  for (const each of followed) if (each.status === 'rejected') throw each.reason;
}

async function install(folder: string): Promise<void> {
  const { succeeded, output } = await runNpm(folder, ['ci', '--prefer-offline', '--no-audit', '--no-fund']);
  if (!succeeded) throw new Error(`npm ci failed:\n${output}`);
}

async function check(result: Result, folder: string, script: string, settings = {}): Promise<void> {
  await withServer(settings, async (server) => {
    const { succeeded, output } = await runNpm(folder, ['run', script], { POSTROOM_URL: server.url });
    // The summary of node:test, or of unittest in Python.
    result.checks += Number(/^(?:(?:ℹ|#) pass|Ran) (\d+)/m.exec(stripVTControlCharacters(output))?.[1] ?? 0);
    if (!succeeded) result.failures.push(`npm run ${script} failed:\n${output}`);
  });
}

/** Only the documents that the client's own generator has written are allowed. */
async function checkTrusted(result: Result, folder: string): Promise<void> {
  const { succeeded, output } = await runNpm(folder, ['run', 'documents']);
  if (!succeeded) throw new Error(`npm run documents failed:\n${output}`);
  await check(result, folder, 'test:trusted', { TRUSTED_DOCUMENTS: join(folder, trustedDocuments) });
}

async function follow(result: Result, folder: string, script: string, restarts: number): Promise<void> {
  await withServer({}, async (server) => {
    const delivery = await followThroughRestarts(server, folder, script, restarts);
    result.deliveries.set(script, delivery);
    const { lost, repeated, inOrder } = delivery;
    if (lost > 0 || repeated > 0) result.failures.push(`npm run ${script}: ${lost} events lost, ${repeated} repeated`);
    if (!inOrder) result.failures.push(`npm run ${script}: the events are not in order`);
  });
}

async function withServer(settings: Record<string, string>, work: (server: Server) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-clients-'));
  try {
    const server = await Server.start(folder, settings);
    await work(server).finally(() => server.stop());
  } finally {
    rmSync(folder, { recursive: true });
  }
}
