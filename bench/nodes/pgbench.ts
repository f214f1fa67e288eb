import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { Batch, type Statement } from '../../src/data/postgres/batch.ts';
import type { Writer } from './writer.ts';

const runFile = promisify(execFile);
const uuid = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

/** A script of pgbench, and its variables. */
export interface Script {
  lines: string[];
  variables: Record<string, string>;
}

/** The statements of one createPost in room 1, as they are sent to the server. */
async function record(writer: Writer): Promise<{ statements: Statement[]; post: string }> {
  const statements: Statement[] = [];
  const send = Client.prototype.query;
  Client.prototype.query = function (this: Client, ...args: unknown[]) {
    if (args[0] instanceof Batch) statements.push(...args[0].statements);
    return Reflect.apply(send, this, args);
  } as typeof send;
  try {
    return { statements, post: await writer.createPost('1') };
  } finally {
    Client.prototype.query = send;
  }
}

/**
 * A transaction of pgbench with the statements of createPost, in other rooms and with other posts. With `inTwoTrips`
 * pgbench, too, sends all reads at once, and all writes together with the commit.
 */
export async function toScript(
  writer: Writer,
  { rooms, inTwoTrips }: { rooms: number; inTwoTrips: boolean },
): Promise<Script> {
  const { statements, post } = await record(writer);
  const variables: Record<string, string> = {};
  const toVariable = (value: unknown): string => {
    if (value === null) return 'null';
    if (value === '1') return ':room';
    if (value === post) return ':post';
    // The mark of a commit belongs to the connection.
    if (typeof value === 'string' && uuid.test(value)) return ':client_id';
    const name = `v${Object.keys(variables).length}`;
    variables[name] = String(value);
    return `:${name}`;
  };
  const lines = statements.map(
    ({ sql, parameters }) => `${sql.replaceAll(/\$(\d+)/g, (_, number) => toVariable(parameters[number - 1]))};`,
  );
  // The first statement that writes the room begins the second trip.
  const writes = statements.findIndex(({ sql }) => sql.startsWith('update "rooms"'));
  if (writes < 0) throw new Error('No statement advances the head of the room.');
  const body = inTwoTrips
    ? [
        ...['\\startpipeline', ...lines.slice(0, writes), '\\endpipeline'],
        ...['\\startpipeline', ...lines.slice(writes), '\\endpipeline'],
      ]
    : lines;
  const sets = [`\\set room random(1, ${rooms})`, '\\set n :n + 1', '\\set post :base + :client_id * 1000000000 + :n'];
  return { lines: [...sets, ...body], variables };
}

let runs = 0;

/** Transactions per second. @throws Error when one fails. */
export async function runPgbench(
  url: string,
  script: Script,
  { seconds, clients }: { seconds: number; clients: number },
) {
  runs += 1;
  const folder = mkdtempSync(join(tmpdir(), 'postroom-bench-'));
  const file = join(folder, 'script.sql');
  writeFileSync(file, script.lines.join('\n'));
  // Every run has posts of its own.
  const variables = { ...script.variables, n: '0', base: String(runs * 1e14) };
  const defines = Object.entries(variables).flatMap(([name, value]) => ['-D', `${name}=${value}`]);
  const options = ['-n', '-M', 'prepared', '-c', String(clients), '-T', String(seconds), '-f', file];
  try {
    const { stdout } = await runFile('pgbench', [...options, ...defines, url]);
    const [, failed] = /number of failed transactions: (\d+)/.exec(stdout) ?? [];
    const [, rate] = /^tps = ([\d.]+)/m.exec(stdout) ?? [];
    if (failed !== '0' || rate === undefined) throw new Error(stdout);
    return Number(rate);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
