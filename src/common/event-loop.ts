/** Items that wait, in one queue per caller. The callers take turns, so that a caller with many items delays no other. */
export class FairQueue<Item> {
  readonly #queues = new Map<string, Set<Item>>();
  size = 0;

  sizeOf(caller: string): number {
    return this.#queues.get(caller)?.size ?? 0;
  }

  /** An item that waits already keeps its place. */
  add(caller: string, item: Item): void {
    const queue = this.#queues.get(caller) ?? new Set();
    if (queue.has(item)) return;
    this.#queues.set(caller, queue.add(item));
    this.size += 1;
  }

  /** Removes the first item of the next caller that `mayTake`, and moves this caller to the end. */
  take(mayTake: (caller: string) => boolean = () => true): Item | undefined {
    for (const [caller, queue] of this.#queues) {
      if (!mayTake(caller)) continue;
      this.#queues.delete(caller);
      this.#queues.set(caller, queue);
      for (const item of queue) {
        this.delete(caller, item);
        return item;
      }
    }
    return undefined;
  }

  delete(caller: string, item: Item): void {
    const queue = this.#queues.get(caller);
    if (!queue?.delete(item)) return;
    this.size -= 1;
    if (queue.size === 0) this.#queues.delete(caller);
  }
}

/** The longest time that work may block the event loop before sockets and timers are served. */
const maxTurnMs = 2;

let turn = 0;
let turnEndsAt = 0;
let isTurnOpen = false;
/** Whether a caller may work, but has not continued yet. */
let isGranted = false;
const ofServer = new FairQueue<() => void>();
const ofCallers = new FairQueue<() => void>();
/** They take turns: many callers delay no event, and work for many events delays no caller. */
const queues = [ofServer, ofCallers];

/**
 * Call it between two pieces of work, as `await yieldWhenDue()`. Returns undefined while this turn of the event loop
 * has time left; after that, a promise that resolves in a later turn.
 */
export function yieldWhenDue(): Promise<void> | undefined {
  // Many callers may wake together, and each works only after its `await`: all would find that the turn has time left.
  if (isGranted) return wait('');
  const next = nextTurnWhenDue();
  isGranted = next === undefined;
  // It runs right before the caller continues.
  if (isGranted) queueMicrotask(endGrant);
  return next;
}

/** The same for work that begins at once if the result is undefined. The callers of requests take turns. */
export function nextTurnWhenDue(caller = ''): Promise<void> | undefined {
  const now = performance.now();
  if (!isTurnOpen) openTurn(now);
  return now < turnEndsAt && !isWaiting() ? undefined : wait(caller);
}

function wait(caller: string): Promise<void> {
  return new Promise((resolve) => (caller === '' ? ofServer : ofCallers).add(caller, resolve));
}

function isWaiting(): boolean {
  return ofServer.size + ofCallers.size > 0;
}

/** An amount of work for each turn of the event loop. */
export class TurnBudget {
  readonly #amount: number;
  #turn = 0;
  #left = 0;

  constructor(amount: number) {
    this.#amount = amount;
  }

  /** Returns what is left for this turn; negative if more is spent. */
  spend(amount = 1): number {
    if (!isTurnOpen) openTurn(performance.now());
    if (this.#turn !== turn) this.#left = this.#amount;
    this.#turn = turn;
    this.#left -= amount;
    return this.#left;
  }
}

/**
 * Handles a limited amount of work in one turn of the event loop. The rest waits so that other work can run between the
 * turns, and callers take turns.
 */
export class PerTurnQueue<Work> {
  readonly #budget: TurnBudget;
  readonly #handle: (work: Work) => void;
  readonly #callerOf: (work: Work) => string;
  readonly #waiting = new FairQueue<Work>();
  #isScheduled = false;

  constructor(perTurn: number, handle: (work: Work) => void, callerOf: (work: Work) => string = () => '') {
    this.#budget = new TurnBudget(perTurn);
    this.#handle = handle;
    this.#callerOf = callerOf;
  }

  /** Handles the work at once if this turn has some left, and nothing waits. */
  push(work: Work): void {
    if (this.#waiting.size === 0 && this.#budget.spend() >= 0) this.#handle(work);
    else this.defer(work);
  }

  /** The work waits for another turn. Work that waits already keeps its place. */
  defer(work: Work): void {
    this.#waiting.add(this.#callerOf(work), work);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      while (this.#waiting.size > 0 && this.#budget.spend() >= 0) this.#handle(this.#waiting.take() as Work);
      this.#schedule();
    });
  }
}

function endGrant(): void {
  isGranted = false;
}

function openTurn(now: number): void {
  isTurnOpen = true;
  turn += 1;
  turnEndsAt = now + maxTurnMs;
  setImmediate(endTurn);
}

function endTurn(): void {
  isTurnOpen = false;
  if (!isWaiting()) return;
  openTurn(performance.now());
  resumeNext();
}

/** Resumes one caller after the other until the turn is over; sockets and timers are served before the others. */
function resumeNext(): void {
  if (performance.now() >= turnEndsAt) return;
  queues.reverse();
  queues.find(({ size }) => size > 0)?.take()?.();
  // After all pending microtasks, when the resumed work has finished or waits for input.
  if (isWaiting()) queueMicrotask(() => process.nextTick(resumeNext));
}
