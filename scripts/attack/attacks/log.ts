import { execFileSync } from 'node:child_process';
import { closeSync, constants, createReadStream, openSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../../free-port.ts';
import type { Attack, Findings } from '../attack.ts';
import type { Sandbox } from '../sandbox.ts';
import type { Server } from '../server.ts';
import { until } from '../waiting.ts';

/* The outputs of the server can fail or block. */

const refusals = 1_200;
const eachAddress = 90;

/** Each refused token is logged. The rate limits each address, so many addresses send. Returns the number of refusals. */
async function fillLog(sandbox: Sandbox, server: Server): Promise<number> {
  let refused = 0;
  for (let first = 0; first < refusals && server.isRunning; first += eachAddress) {
    const client = sandbox.openClient(server, `127.0.7.${1 + first / eachAddress}`);
    const sending = Array.from({ length: eachAddress }, (_, index) =>
      client.send('{ viewer { id } }', {}, { token: `wrong ${first + index}`, timeoutMs: 3_000 }),
    );
    const settled = await Promise.allSettled(sending);
    // The server is frozen; more requests would only time out.
    if (settled.every(({ status }) => status === 'rejected')) break;
    refused += settled.filter((one) => one.status === 'fulfilled' && one.value.status === 401).length;
  }
  return refused;
}

/** Expects that the server answers requests and exits with status 0 on SIGTERM. */
async function expectAlive(sandbox: Sandbox, findings: Findings, server: Server): Promise<void> {
  const client = sandbox.openClient(server, '127.0.0.9');
  const health = await client.statusOf('/health');
  findings.expect(health === 200, `/health: ${health ?? 'no answer within 2 s'}`);
  const reply = await client
    .send('{ users(limit: 1) { data { id } } }', {}, { timeoutMs: 2_000 })
    .catch(() => undefined);
  findings.expect(reply?.status === 200, `a query: ${reply?.status ?? 'no answer within 2 s'}`);
  const status = await server.stop();
  findings.expect(status === 0, `SIGTERM: the exit status was ${status}`);
}

/** A pipe without a reader that blocks the writer when it is full. */
function openUnreadPipe(sandbox: Sandbox): number {
  const path = join(sandbox.newFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  return openUntilEnd(sandbox, path, constants.O_RDWR);
}

/** A pipe that fails with EPIPE after `closeReader` closes its reader. */
function openBrokenPipe(sandbox: Sandbox): { descriptor: number; closeReader: () => void } {
  const path = join(sandbox.newFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const descriptor = openUntilEnd(sandbox, path, constants.O_WRONLY);
  return { descriptor, closeReader: () => closeSync(reader) };
}

function openUntilEnd(sandbox: Sandbox, path: string, flags: number): number {
  const descriptor = openSync(path, flags);
  sandbox.onEnd(() => closeSync(descriptor));
  return descriptor;
}

interface Outputs {
  stdout?: number;
  stderr?: number;
  /** Called when the server is ready. */
  onReady?: () => void;
}

function failingOutput(name: string, promise: string, open: (sandbox: Sandbox) => Outputs): Attack {
  return {
    name,
    promise,
    async run(sandbox, findings) {
      const { onReady, ...outputs } = open(sandbox);
      const server = await sandbox.start({ ...outputs, settings: { PORT: String(await findFreePort()) } });
      onReady?.();
      await fillLog(sandbox, server);
      await expectAlive(sandbox, findings, server);
    },
  };
}

const slowReader: Attack = {
  name: 'log-read-again',
  promise: 'When the log is read again after a pause, logging resumes and reports dropped lines.',
  async run(sandbox, findings) {
    const path = join(sandbox.newFolder(), 'pipe');
    execFileSync('mkfifo', [path]);
    const stderr = openUntilEnd(sandbox, path, constants.O_RDWR);
    const server = await sandbox.start({ stderr });
    // The lines exceed the capacity of the pipe and of a reasonable buffer.
    const refused = await fillLog(sandbox, server);
    const stream = createReadStream(path);
    stream.on('error', () => {});
    sandbox.onEnd(() => stream.destroy());
    let text = '';
    stream.on('data', (bytes) => {
      text += String(bytes);
    });
    const client = sandbox.openClient(server, '127.0.6.1');
    const resumes = await until(5_000, async () => {
      await client.send('{ viewer { id } }', {}, { token: 'the last', timeoutMs: 1_000 }).catch(() => undefined);
      return text.includes('127.0.6.1');
    });
    findings.expect(resumes, 'no line was written after the log was read again');
    const written = text.split('credentialsRefused').length - 1;
    const reportsDrops = /drop/i.test(text);
    findings.note(
      `${written} of ${refused} lines were written${reportsDrops ? ', and the log reports dropped lines' : ''}`,
    );
    findings.expect(
      written >= refused || reportsDrops,
      `${refused - written} lines were dropped, but the log does not report it`,
    );
  },
};

export const logAttacks: readonly Attack[] = [
  failingOutput(
    'stderr-full',
    'A full disk for standard error stops neither the server nor its answers.',
    (sandbox) => ({
      stderr: openUntilEnd(sandbox, '/dev/full', constants.O_WRONLY),
    }),
  ),
  failingOutput('stderr-unread', 'An unread log stops neither the server nor its answers.', (sandbox) => ({
    stderr: openUnreadPipe(sandbox),
  })),
  failingOutput(
    'stderr-reader-gone',
    'A closed standard error stops neither the server nor its answers.',
    (sandbox) => {
      const { descriptor, closeReader } = openBrokenPipe(sandbox);
      return { stderr: descriptor, onReady: closeReader };
    },
  ),
  failingOutput(
    'stdout-full',
    'A full disk for standard output stops neither the start nor the server.',
    (sandbox) => ({
      stdout: openUntilEnd(sandbox, '/dev/full', constants.O_WRONLY),
    }),
  ),
  failingOutput('stdout-reader-gone', 'A closed standard output stops neither the start nor the server.', (sandbox) => {
    const { descriptor, closeReader } = openBrokenPipe(sandbox);
    closeReader();
    return { stdout: descriptor };
  }),
  slowReader,
];
