import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const runFile = promisify(execFile);

export interface Load {
  requests: number;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
}

interface LoadOptions {
  port: number;
  /** Several are sent in turn. */
  body: string | readonly string[];
  connections: number;
  seconds: number;
  authorization?: string | undefined;
}

/** Sends requests repeatedly with wrk. @throws Error when a request fails. */
export async function load({ port, body, connections, seconds, authorization }: LoadOptions): Promise<Load> {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-bench-'));
  try {
    const script = join(folder, 'post.lua');
    writeFileSync(script, createScript(body, authorization));
    const url = `http://127.0.0.1:${port}/graphql`;
    const args = ['-t', '1', '-c', String(connections), '-d', String(seconds), '--latency', '-s', script, url];
    const { stdout } = await runFile('wrk', args);
    return parseReport(stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function createScript(body: LoadOptions['body'], authorization: string | undefined): string {
  return [
    'wrk.method = "POST"',
    'wrk.headers["content-type"] = "application/json"',
    'wrk.headers["accept"] = "application/graphql-response+json, application/json"',
    ...(authorization === undefined ? [] : [`wrk.headers["authorization"] = "${authorization}"`]),
    ...(typeof body === 'string' ? [`wrk.body = [==[${body}]==]`] : takeTurns(body)),
  ].join('\n');
}

function takeTurns(bodies: readonly string[]): string[] {
  const list = bodies.map((body) => `[==[${body}]==]`).join(', ');
  return [
    `local bodies, turn = { ${list} }, 0`,
    'request = function()',
    '  turn = turn % #bodies + 1',
    '  return wrk.format(nil, nil, nil, bodies[turn])',
    'end',
  ];
}

function parseReport(report: string): Load {
  const failures = /^ {2}(Non-2xx.*|Socket errors.*)$/m.exec(report)?.[1];
  if (failures) throw new Error(failures);
  const number = (pattern: RegExp) => Number(pattern.exec(report)?.[1]);
  return {
    requests: number(/(\d+) requests in/),
    requestsPerSecond: number(/Requests\/sec:\s+([\d.]+)/),
    p50Ms: milliseconds(/50%\s+([\d.]+)(us|ms|s)/.exec(report)),
    p99Ms: milliseconds(/99%\s+([\d.]+)(us|ms|s)/.exec(report)),
  };
}

function milliseconds(match: RegExpExecArray | null): number {
  const [, value, unit] = match ?? [];
  return Number(value) * ({ us: 0.001, ms: 1, s: 1_000 }[unit ?? ''] ?? Number.NaN);
}
