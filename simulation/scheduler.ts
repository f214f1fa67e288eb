import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import promises from 'node:timers/promises';
import { Random } from './random.ts';
import { noteStep } from './watchdog.ts';

/*
 * Time, chance and the order of all completions, for a whole process. They are replaced where the process meets them: the
 * timers, clocks and random numbers of Node itself. So no part of the program has to receive a clock, none can be
 * forgotten, and the libraries that it uses (DataLoader, lru-cache, ulid) are on the same time.
 */

/** The part of the world that a step belongs to: the name of a node, or that of the world itself. */
export type Owner = string;
export const world: Owner = 'world';

interface Task {
  readonly at: number;
  /** Tasks of the same time run in the order in which they were added, as Node's timers do. */
  readonly number: number;
  readonly owner: Owner;
  readonly run: () => void;
  isCancelled: boolean;
}

/** 2030-01-01: no clock of a run is before that of the machine. */
const epoch = 1_893_456_000_000;
const maxStepsAtOnce = 50_000;
const realSetImmediate = setImmediate;
/** The runs of this process. */
let runs = 0;

/** Runs tasks in the order of their virtual times. */
export class Scheduler {
  /** Decides everything that the world decides. */
  readonly random: Random;
  /** The random numbers of the program: ids and marks. */
  readonly #ofProgram: Random;
  /** Milliseconds since the start of the run. */
  now = 0;
  steps = 0;
  owner: Owner = world;
  /** How far the clock of a node is ahead, in milliseconds. */
  readonly clockOffsets = new Map<Owner, number>();
  readonly #start: number;
  #tasks: Task[] = [];
  #immediates: Task[] = [];
  #number = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.#ofProgram = new Random(seed + 1_000_003);
    // Ids contain the time, and ascend in a process: each run has a day of its own, so that it does not depend on earlier runs.
    this.#start = epoch + runs * 86_400_000;
    runs += 1;
  }

  get clock(): number {
    return Math.floor(this.#start + this.now + (this.clockOffsets.get(this.owner) ?? 0));
  }

  /** Runs work after a time, as a step of `owner`. */
  after(ms: number, run: () => void, owner = this.owner): Task {
    const at = this.now + Math.max(0, Number.isFinite(ms) ? ms : 0);
    const task = { at, number: this.#nextNumber(), owner, run, isCancelled: false };
    push(this.#tasks, task);
    return task;
  }

  /** Resolves after a time; never, if its node is killed before. */
  delay(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Forgets all that a node waits for: none of its code runs again. */
  kill(owner: Owner): void {
    for (const task of this.#tasks) if (task.owner === owner) task.isCancelled = true;
  }

  /** What a node still waits for. */
  countPending(owner: Owner): number {
    return this.#tasks.filter((task) => task.owner === owner && !task.isCancelled).length;
  }

  /** Runs all steps up to a time, or until `isOver`. @throws Error if time does not pass: a real program would serve nobody. */
  async runUntil(time: number, isOver: () => boolean): Promise<void> {
    let stepsAtOnce = 0;
    for (;;) {
      if (isOver()) return;
      if (stepsAtOnce > maxStepsAtOnce) throw new Error(`${this.owner} works without end, and no time passes`);
      const task = this.#immediates.shift() ?? this.#nextDue(time);
      if (!task) break;
      if (task.isCancelled) continue;
      stepsAtOnce = task.at > this.now ? 0 : stepsAtOnce + 1;
      this.now = Math.max(this.now, task.at);
      this.owner = task.owner;
      this.steps += 1;
      noteStep();
      task.run();
      // All microtasks of the step run before the next one.
      await new Promise<void>((resolve) => void realSetImmediate(resolve));
    }
    this.owner = world;
    this.now = Math.max(this.now, time);
  }

  /** Replaces time and chance of the process until the function that it returns is called. */
  install(): () => void {
    const restores = [this.#replaceTimers(), this.#replaceClocks(), this.#replaceChance()];
    syncBuiltinESMExports();
    return () => {
      for (const restore of restores) restore();
      syncBuiltinESMExports();
    };
  }

  #nextNumber(): number {
    this.#number += 1;
    return this.#number;
  }

  #nextDue(time: number): Task | undefined {
    const [first] = this.#tasks;
    return first && first.at <= time ? pop(this.#tasks) : undefined;
  }

  #replaceTimers(): () => void {
    const handleOf = (task: Task) => {
      const handle = { task, ref: () => handle, unref: () => handle, hasRef: () => true, refresh: () => handle };
      return Object.assign(handle, { [Symbol.dispose]: () => clear(handle) });
    };
    const clear = (handle: { task: Task } | undefined | null) => {
      if (handle?.task) handle.task.isCancelled = true;
    };
    const setTimer = (run: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) =>
      handleOf(this.after(Math.max(1, ms), () => run(...args)));
    const repeat = (run: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) => {
      const handle = handleOf(this.after(Math.max(1, ms), () => fire()));
      const fire = () => {
        handle.task = this.after(Math.max(1, ms), fire);
        run(...args);
      };
      return handle;
    };
    const immediate = (run: (...args: unknown[]) => void, ...args: unknown[]) => {
      const task = { at: this.now, number: 0, owner: this.owner, run: () => run(...args), isCancelled: false };
      this.#immediates.push(task);
      return handleOf(task);
    };
    const wait = (ms?: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
      new Promise((resolve, reject) => {
        const refuse = () =>
          reject(Object.assign(new Error('aborted', { cause: signal?.reason }), { name: 'AbortError' }));
        if (signal?.aborted) return refuse();
        const task = this.after(Math.max(1, ms ?? 1), () => {
          signal?.removeEventListener('abort', cancel);
          resolve(value);
        });
        const cancel = () => {
          task.isCancelled = true;
          refuse();
        };
        signal?.addEventListener('abort', cancel);
      });
    const restoreGlobals = replace(globalThis, {
      setTimeout: setTimer,
      setInterval: repeat,
      setImmediate: immediate,
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    });
    const waitTurn = (value?: unknown) => new Promise((resolve) => immediate(() => resolve(value)));
    const restorePromises = replace(promises, { setTimeout: wait, setImmediate: waitTurn });
    return () => {
      restoreGlobals();
      restorePromises();
    };
  }

  #replaceClocks(): () => void {
    const clock = () => this.clock;
    const restoreDate = replace(Date, { now: clock });
    const restorePerformance = replace(performance, { now: () => this.now });
    return () => {
      restoreDate();
      restorePerformance();
    };
  }

  #replaceChance(): () => void {
    const random = this.#ofProgram;
    const fill = <View extends NodeJS.ArrayBufferView>(view: View) => {
      new Uint8Array(view.buffer, view.byteOffset, view.byteLength).fill(7);
      return view;
    };
    const restoreMath = replace(Math, { random: () => random.next() });
    const restoreCrypto = replace(crypto, {
      randomInt: (from: number, to?: number) => (to === undefined ? random.whole(0, from) : random.whole(from, to)),
      randomUUID: () =>
        `00000000-0000-4000-8000-${random
          .whole(0, 2 ** 32)
          .toString(16)
          .padStart(12, '0')}`,
      // Ids of requests, of which a process keeps some for later: they decide nothing.
      randomFillSync: fill,
    });
    return () => {
      restoreMath();
      restoreCrypto();
    };
  }
}

function replace(target: object, replacements: Record<string, unknown>): () => void {
  const before = Object.keys(replacements).map((name) => [name, Reflect.get(target, name)] as const);
  Object.assign(target, replacements);
  return () => Object.assign(target, Object.fromEntries(before));
}

function isBefore(one: Task, other: Task): boolean {
  return one.at < other.at || (one.at === other.at && one.number < other.number);
}

/** A binary heap with the earliest task first. */
function push(heap: Task[], task: Task): void {
  let index = heap.push(task) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (!above || isBefore(above, task)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = task;
}

function pop(heap: Task[]): Task | undefined {
  const [first] = heap;
  const last = heap.pop();
  if (!last || heap.length === 0) return first;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    const [left, right] = [heap[child], heap[child + 1]];
    if (!left) break;
    const smallest = right && isBefore(right, left) ? right : left;
    if (smallest === right) child += 1;
    if (isBefore(last, smallest)) break;
    heap[index] = smallest;
    index = child;
  }
  heap[index] = last;
  return first;
}
