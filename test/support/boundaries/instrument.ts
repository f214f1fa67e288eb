import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { findBoundaries, findServerFiles } from './scan.ts';

/*
 * Loaded before the program with `node --import`. Each boundary of the program reports that it is passed, and throws once
 * when it is armed: a line of standard input names the boundary. The reports are lines of the log. INSTRUMENTED may name
 * the only files whose boundaries a test needs, because parsing all files takes longer than the start of the program.
 */

type Callback = (this: unknown, ...values: unknown[]) => unknown;

declare global {
  var enterBoundary: (id: string, callback: Callback) => Callback;
  var delayOf: (id: string, delay: number) => number;
}

const passed = new Set<string>();
let armed: string | undefined;

function report(line: Record<string, unknown>): void {
  process.stderr.write(`${JSON.stringify(line)}\n`);
}

function notePassed(id: string, how: 'passed' | 'scheduled'): void {
  const key = `${how} ${id}`;
  if (passed.has(key)) return;
  passed.add(key);
  report({ msg: how, boundary: id });
}

globalThis.enterBoundary = (id, callback) => {
  if (typeof callback !== 'function') return callback;
  const entered: Callback & { listener?: Callback } = function enter(...values) {
    notePassed(id, 'passed');
    if (armed === id) {
      armed = undefined;
      report({ msg: 'threw', boundary: id });
      throw new Error(`exception in ${id}`);
    }
    return callback.apply(this, values);
  };
  // `off` finds it by the callback.
  entered.listener = callback;
  return entered;
};

/** A timer that is armed runs at once: what it would do later does not matter. */
globalThis.delayOf = (id, delay) => {
  notePassed(id, 'scheduled');
  return armed === id ? 0 : delay;
};

// Threads load this file, too.
if (isMainThread) {
  createInterface(process.stdin).on('line', (line) => {
    armed = line === '' ? undefined : line;
    passed.clear();
    report({ msg: 'armed', boundary: line });
  });
  // A pipe, which must not keep the process alive.
  (process.stdin as Socket).unref();
}

const source = new URL('../../../src/', import.meta.url).href;
const files = new Set(process.env['INSTRUMENTED']?.split(',') ?? findServerFiles());

registerHooks({
  load(url, context, loadNext) {
    const file = url.startsWith(source) ? url.slice(source.length) : '';
    if (!files.has(file)) return loadNext(url, context);
    return { format: 'module-typescript', source: instrument(file, url), shortCircuit: true };
  },
});

function instrument(file: string, url: string): string {
  let code = readFileSync(fileURLToPath(url), 'utf8');
  const edits: [at: number, text: string][] = [];
  for (const { id, place, isBlock, delay } of findBoundaries(file, code)) {
    const name = JSON.stringify(id);
    if (isBlock) edits.push([place.start + 1, `enterBoundary(${name}, () => {})();`]);
    else edits.push([place.start, `enterBoundary(${name}, `], [place.end, ')']);
    if (delay) edits.push([delay.start, `delayOf(${name}, `], [delay.end, ')']);
  }
  // From the end, so that the offsets of the others stay valid.
  for (const [at, text] of edits.sort(([one], [other]) => other - one))
    code = code.slice(0, at) + text + code.slice(at);
  return code;
}
