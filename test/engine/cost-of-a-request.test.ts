import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { launchProcessForTest, mainProgram, type PostroomProcess } from '../support/server/postroom.ts';

/*
 * What a small query costs the server, in counts that do not depend on the machine. A change that makes more of it may be
 * right: then it also changes the numbers here, and its commit says what they buy.
 */

/**
 * In kB: a tenth more than was measured. V8 does not optimize the code meanwhile, because what it optimizes, and when,
 * depends on the time.
 */
const maxAllocated = 43;
const requests = 500;

const probe = new URL('../support/server/report-allocations.ts', import.meta.url).pathname;
/** Nothing is collected while the requests are counted. */
const options = ['--expose-gc', '--no-opt', '--no-maglev', '--min-semi-space-size=64', '--max-semi-space-size=64'];

async function readHeap({ process, log }: PostroomProcess): Promise<number> {
  const reports = () => log.filter(({ msg }) => msg === 'heap');
  const { length } = reports();
  process.kill('SIGUSR2');
  await expect.poll(() => reports().length).toBeGreaterThan(length);
  return Number(reports().at(-1)?.['bytes']);
}

/** https://man7.org/linux/man-pages/man5/proc_pid_io.5.html */
function countCalls({ process }: PostroomProcess, name: 'syscr' | 'syscw'): number {
  return Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(readFileSync(`/proc/${process.pid}/io`, 'utf8'))?.[1]);
}

it('a small query reads and writes its socket once, and allocates at most a tenth more than it did', async () => {
  const postroom = await launchProcessForTest({}, [...options, '--import', probe, ...mainProgram]);
  const ada = await postroom.signUp('Ada');
  const body = JSON.stringify({ query: 'query ($id: ID!) { user(id: $id) { id name } }', variables: { id: ada.id } });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const send = async () => {
    for (let sent = 0; sent < requests; sent += 1) {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const asked = request(postroom.graphqlUrl, { method: 'POST', headers, agent }, (response) =>
        resolve(text(response)),
      );
      asked.once('error', reject).end(body);
      expect(await promise).toBe(`{"data":{"user":{"id":"${ada.id}","name":"Ada"}}}`);
    }
  };
  await send();
  const measure = async () => {
    const [heap, reads, writes] = [
      await readHeap(postroom),
      countCalls(postroom, 'syscr'),
      countCalls(postroom, 'syscw'),
    ];
    await send();
    return {
      reads: Math.round((countCalls(postroom, 'syscr') - reads) / requests),
      writes: Math.round((countCalls(postroom, 'syscw') - writes) / requests),
      kilobytes: ((await readHeap(postroom)) - heap) / requests / 1_000,
    };
  };
  let cost = await measure();
  // V8 has collected garbage meanwhile.
  while (cost.kilobytes < maxAllocated / 3) cost = await measure();
  agent.destroy();
  expect(cost).toMatchObject({ reads: 1, writes: 1 });
  expect(cost.kilobytes, 'what a request allocates').toBeLessThan(maxAllocated);
});
