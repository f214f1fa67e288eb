import { type CallExpression, type Node, parseSync, Visitor } from 'oxc-parser';
import { findTypeScriptFiles } from '../../../scripts/repository.ts';

/* Finds where a file registers callbacks, so that a test can make each of them throw. */

/** A part of the text of a file. */
interface Range {
  start: number;
  end: number;
}

/** A place whose exceptions must not leave the work of a connection. */
export interface Boundary {
  /** The file and the call. */
  id: string;
  line: number;
  /** A callback, or the block of a `try` that passes its exception to `fail`. */
  place: Range;
  isBlock: boolean;
  /** The delay of the timer that calls it. */
  delay: Range | undefined;
}

/**
 * The files of src/ that run in the process of the server and serve clients. Threads have files of their own: an exception
 * in one ends the thread, and `contain.ts` is what is tested.
 */
export function findServerFiles(): string[] {
  const isOther = /\/browser\/|^import\/|worker\.ts$|^main\.ts$|^common\/contain\.ts$|^commands\/(?!serve\.ts$)/;
  return findTypeScriptFiles('src')
    .map((path) => path.slice('src/'.length))
    .filter((file) => !isOther.test(file));
}

/** By the name of the function or method: the index of the callback; -1: the last argument, if it is a function. */
const registrations: Readonly<Record<string, number>> = {
  on: 1,
  once: 1,
  addListener: 1,
  prependListener: 1,
  prependOnceListener: 1,
  addEventListener: 1,
  setTimeout: 0,
  setInterval: 0,
  setImmediate: 0,
  queueMicrotask: 0,
  nextTick: 0,
  createServer: 1,
  createContainedServer: 1,
  write: -1,
  end: -1,
  send: -1,
  fdatasync: -1,
  contain: 0,
  containOne: 1,
  containEach: 1,
};
const noCallbacks: readonly Node['type'][] = ['Literal', 'TemplateLiteral', 'SpreadElement'];
const functions: readonly Node['type'][] = ['ArrowFunctionExpression', 'FunctionExpression', 'ConditionalExpression'];

/** The boundaries of a file. A callback that `contain` returns is a boundary where `contain` is called. */
export function findBoundaries(file: string, code: string): Boundary[] {
  const { program, errors } = parseSync(file, code);
  if (errors[0]) throw new Error(`${file}: ${errors[0].message}`);
  const text = ({ start, end }: Range) => code.slice(start, end);
  const contained = new Map<string, CallExpression>();
  const hold = (target: Range, value: Node | null) => {
    if (value?.type !== 'CallExpression' || nameOf(value) !== 'contain') return;
    contained.set(text(target).replace(/^#/, 'this.#'), value);
  };
  new Visitor({
    VariableDeclarator: ({ id, init }) => hold(id, init),
    AssignmentExpression: ({ left, right }) => hold(left, right),
    PropertyDefinition: ({ key, value }) => hold(key, value),
  }).visit(program);

  const found: Boundary[] = [];
  const delays = new Map<number, Range>();
  const counts = new Map<string, number>();
  const add = (name: string, place: Range, isBlock: boolean, delay?: Range) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const id = `${file}: ${name}${count > 1 ? `, ${count}` : ''}`;
    found.push({ id, line: code.slice(0, place.start).split('\n').length, place, isBlock, delay });
  };
  new Visitor({
    CallExpression(call) {
      const callback = findCallback(call);
      if (!callback) return;
      const delay = call.callee.type === 'Identifier' ? call.arguments[1] : undefined;
      const isTimer = /^set(Timeout|Interval)$/.test(nameOf(call) ?? '');
      const container =
        callback.type === 'CallExpression' && nameOf(callback) === 'contain' ? callback : contained.get(text(callback));
      const work = container?.arguments[0];
      if (work && isTimer && delay) delays.set(work.start, delay);
      // A name may be that of a number: only functions are callbacks of `write` and `end`.
      const isName = registrations[nameOf(call) ?? ''] === -1 && !functions.includes(callback.type);
      if (!work && !isName && !doesNothing(text(callback)))
        add(describe(call, text), callback, false, isTimer ? delay : undefined);
    },
    TryStatement({ block, handler }) {
      if (handler && /\b(?:sink|exchange|connection)\.fail\(/.test(text(handler))) add('try', block, true);
    },
  }).visit(program);
  for (const boundary of found) boundary.delay ??= delays.get(boundary.place.start);
  return found;
}

function findCallback(call: CallExpression): Node | undefined {
  const name = nameOf(call) ?? '';
  const isMethod = call.callee.type === 'MemberExpression';
  const index =
    isMethod && name === 'setTimeout' ? 1 : Object.hasOwn(registrations, name) ? registrations[name] : undefined;
  if (index === undefined || (index === -1 && call.arguments.length < 2)) return undefined;
  const callback = call.arguments.at(index);
  return callback && !noCallbacks.includes(callback.type) ? callback : undefined;
}

function nameOf({ callee }: CallExpression): string | undefined {
  if (callee.type === 'Identifier') return callee.name;
  return callee.type === 'MemberExpression' && callee.property.type === 'Identifier' ? callee.property.name : undefined;
}

/** A callback that does nothing, or only settles a promise, cannot throw. */
function doesNothing(callback: string): boolean {
  return /^(ignore|resolve|reject|\(\) => \{\})$/.test(callback);
}

function describe(call: CallExpression, text: (range: Range) => string): string {
  const [first] = call.arguments;
  const event = first?.type === 'Literal' ? text(first) : '…';
  const callee = text(call.callee).replaceAll(/\s+/g, '');
  return `${callee}(${/^(?:contain|containOne|containEach)$/.test(callee) && first ? text(first).replaceAll(/\s+/g, ' ').slice(0, 50) : event})`;
}
