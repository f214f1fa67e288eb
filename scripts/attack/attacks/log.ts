import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, createReadStream, openSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { Arena } from '../arena.ts';
import type { Attack, Findings } from '../attack.ts';
import type { Server } from '../server.ts';
import { until } from '../waiting.ts';

/* The outputs of the server can fail or block. */

const refusals = 1_200;
const eachAddress = 90;

/** Each refused token is logged. The rate limits each address, so many addresses send. Returns the number of refusals. */
async function fillLog(arena: Arena, server: Server): Promise<number> {
  let refused = 0;
  for (let first = 0; first < refusals && server.isRunning; first += eachAddress) {
    const caller = arena.caller(server, `127.0.7.${1 + first / eachAddress}`);
    const sending = Array.from({ length: eachAddress }, (_, index) =>
      caller.send('{ viewer { id } }', {}, { token: `wrong ${first + index}`, timeoutMs: 3_000 }),
    );
    const settled = await Promise.allSettled(sending);
    // The server is frozen; more requests would only time out.
    if (settled.every(({ status }) => status === 'rejected')) break;
    refused += settled.filter((one) => one.status === 'fulfilled' && one.value.status === 401).length;
  }
  return refused;
}

/** Expects that the server answers requests and exits with status 0 on SIGTERM. */
async function expectAlive(arena: Arena, findings: Findings, server: Server): Promise<void> {
  const caller = arena.caller(server, '127.0.0.9');
  const health = await caller.statusOf('/health');
  findings.expect(health === 200, `/health: ${health ?? 'no answer within 2 s'}`);
  const reply = await caller
    .send('{ users(limit: 1) { data { id } } }', {}, { timeoutMs: 2_000 })
    .catch(() => undefined);
  findings.expect(reply?.status === 200, `a query: ${reply?.status ?? 'no answer within 2 s'}`);
  const status = await server.stop();
  findings.expect(status === 0, `SIGTERM: the exit status was ${status}`);
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** A pipe without a reader that blocks the writer when it is full. */
function openUnreadPipe(arena: Arena): number {
  const path = join(arena.newFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  return openForArena(arena, path, constants.O_RDWR);
}

/** A pipe that fails with EPIPE after `breakIt` closes its reader. */
function openBrokenPipe(arena: Arena): { descriptor: number; breakIt: () => void } {
  const path = join(arena.newFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const descriptor = openForArena(arena, path, constants.O_WRONLY);
  return { descriptor, breakIt: () => closeSync(reader) };
}

function openForArena(arena: Arena, path: string, flags: number): number {
  const descriptor = openSync(path, flags);
  arena.onEnd(() => closeSync(descriptor));
  return descriptor;
}

interface Outputs {
  stdout?: number;
  stderr?: number;
  /** Called when the server is ready. */
  onReady?: () => void;
}

function failingOutput(name: string, promise: string, open: (arena: Arena) => Outputs): Attack {
  return {
    name,
    promise,
    async run(arena, findings) {
      const { onReady, ...outputs } = open(arena);
      const server = await arena.start({ ...outputs, settings: { PORT: String(await findFreePort()) } });
      onReady?.();
      await fillLog(arena, server);
      await expectAlive(arena, findings, server);
    },
  };
}

const slowReader: Attack = {
  name: 'log-read-again',
  promise: 'When the log is read again after a pause, logging resumes and reports dropped lines.',
  async run(arena, findings) {
    const path = join(arena.newFolder(), 'pipe');
    execFileSync('mkfifo', [path]);
    const stderr = openForArena(arena, path, constants.O_RDWR);
    const server = await arena.start({ stderr });
    // The lines exceed the capacity of the pipe and of a reasonable buffer.
    const refused = await fillLog(arena, server);
    const stream = createReadStream(path);
    stream.on('error', () => {});
    arena.onEnd(() => stream.destroy());
    let text = '';
    stream.on('data', (bytes) => {
      text += String(bytes);
    });
    const caller = arena.caller(server, '127.0.6.1');
    const goesOn = await until(5_000, async () => {
      await caller.send('{ viewer { id } }', {}, { token: 'the last', timeoutMs: 1_000 }).catch(() => undefined);
      return text.includes('127.0.6.1');
    });
    findings.expect(goesOn, 'no line was written after the log was read again');
    const written = text.split('credentialsRefused').length - 1;
    const says = /drop/i.test(text);
    findings.note(`${written} of ${refused} lines were written${says ? ', and the log reports dropped lines' : ''}`);
    findings.expect(
      written >= refused || says,
      `${refused - written} lines were dropped, but the log does not report it`,
    );
  },
};

export const logAttacks: readonly Attack[] = [
  failingOutput('stderr-full', 'A full disk for standard error stops neither the server nor its answers.', (arena) => ({
    stderr: openForArena(arena, '/dev/full', constants.O_WRONLY),
  })),
  failingOutput('stderr-unread', 'An unread log stops neither the server nor its answers.', (arena) => ({
    stderr: openUnreadPipe(arena),
  })),
  failingOutput('stderr-reader-gone', 'A closed standard error stops neither the server nor its answers.', (arena) => {
    const { descriptor, breakIt } = openBrokenPipe(arena);
    return { stderr: descriptor, onReady: breakIt };
  }),
  failingOutput('stdout-full', 'A full disk for standard output stops neither the start nor the server.', (arena) => ({
    stdout: openForArena(arena, '/dev/full', constants.O_WRONLY),
  })),
  failingOutput('stdout-reader-gone', 'A closed standard output stops neither the start nor the server.', (arena) => {
    const { descriptor, breakIt } = openBrokenPipe(arena);
    breakIt();
    return { stdout: descriptor };
  }),
  slowReader,
];
