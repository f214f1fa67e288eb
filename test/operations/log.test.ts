import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { readMetrics } from '../support/engine/metrics.ts';
import { mainProgram, programEnvironment, run } from '../support/server/postroom.ts';

/* The server answers requests, even if its standard output and standard error cannot be written. */

/** The maximum length of an address in a log line. */
const longAddress = 'x'.repeat(100);
/** Their log lines are more than a pipe holds. */
const manyTokens = 500;

interface Started {
  url: string;
  child: ChildProcess;
}

/** Starts the server with the given outputs, and waits until it answers. */
async function start(stdout: 'pipe' | number, stderr: 'pipe' | number): Promise<Started> {
  const port = String(await findFreePort());
  const settings = { PORT: port, DATABASE_URL: 'sqlite::memory:', RATE_LIMIT: '0', TRUST_PROXY: '1' };
  const child = spawn(process.execPath, mainProgram, {
    env: { ...programEnvironment, ...settings },
    stdio: ['ignore', stdout, stderr],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}`;
  await expect.poll(() => isHealthy({ url })).toBe(true);
  return { url, child };
}

async function isHealthy({ url }: Pick<Started, 'url'>): Promise<boolean> {
  // A blocked server does not answer.
  const answer = fetch(`${url}/health`, { signal: AbortSignal.timeout(20_000) });
  return answer.then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Each refused token writes a line to the log. */
async function refuseTokens({ url }: Started, count: number): Promise<void> {
  const headers = { authorization: 'Bearer nobody', 'x-forwarded-for': longAddress };
  for (let sent = 0; sent < count; sent += 20) {
    const requests = Array.from({ length: 20 }, async () => {
      const signal = AbortSignal.timeout(20_000);
      const response = await fetch(`${url}/graphql?query={__typename}`, { headers, signal });
      await response.body?.cancel();
      expect(response.status).toBe(401);
    });
    await Promise.all(requests);
  }
}

async function stop({ child }: Started, signal: NodeJS.Signals = 'SIGTERM'): Promise<unknown[]> {
  const ended = once(child, 'exit');
  child.kill(signal);
  return ended;
}

describe('when no process reads standard error', () => {
  it('the server answers, and SIGTERM ends it', async () => {
    const server = await start('pipe', 'pipe');
    await refuseTokens(server, manyTokens);
    expect(await isHealthy(server)).toBe(true);
    expect(await stop(server)).toEqual([0, null]);
  });

  it('it drops and counts lines over a limit, and reports the number once they are read; SIGHUP ends it, too', async () => {
    const server = await start('pipe', 'pipe');
    await refuseTokens(server, 5_000);
    const { log_lines_dropped_total: dropped = 0 } = await readMetrics(server);
    expect(dropped).toBeGreaterThan(100);
    const lines: { msg?: string; dropped?: number }[] = [];
    const { stderr } = server.child;
    if (!stderr) throw new Error('It has a pipe.');
    createInterface(stderr).on('line', (line) => lines.push(JSON.parse(line)));
    await expect.poll(() => lines.at(-1)).toMatchObject({ msg: 'log lines were dropped', dropped });
    expect(lines.filter(({ msg }) => msg === 'credentialsRefused')).toHaveLength(5_000 - dropped);
    await refuseTokens(server, 20);
    await expect.poll(() => lines.filter(({ msg }) => msg === 'credentialsRefused')).toHaveLength(5_020 - dropped);
    expect(await stop(server, 'SIGHUP')).toEqual([0, null]);
  });
});

it.skipIf(!existsSync('/dev/full'))(
  'when a full disk accepts neither log lines nor the greeting, it serves requests',
  async () => {
    const full = openSync('/dev/full', 'w');
    const server = await start(full, full);
    await refuseTokens(server, manyTokens);
    expect(await isHealthy(server)).toBe(true);
    expect(await stop(server)).toEqual([0, null]);
  },
);

it('when both outputs were closed by their reader, it serves requests', async () => {
  const server = await start('pipe', 'pipe');
  server.child.stdout?.destroy();
  server.child.stderr?.destroy();
  await refuseTokens(server, manyTokens);
  expect(await isHealthy(server)).toBe(true);
  expect(await stop(server)).toEqual([0, null]);
});

it('a line written just before a command ends is not lost', async () => {
  const created = await run(['key', 'create', '--name', 'k', '--scopes', 'read'], { DATABASE_URL: 'sqlite::memory:' });
  expect(JSON.parse(created.stderr)).toMatchObject({ msg: 'apiKeyCreated' });
});
