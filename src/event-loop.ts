import { FairQueue } from './fair-queue.ts';

/** The longest time that work may block the event loop before sockets and timers are served. */
const maxTurnMs = 2;

let turn = 0;
let turnEndsAt = 0;
let isTurnOpen = false;
/** Whether a caller may work, but has not continued yet. */
let isGranted = false;
const waiting = new FairQueue<() => void>();

/**
 * Call it between two pieces of work, as `await yieldWhenDue()`. Returns undefined while this turn of the event loop
 * has time left; after that, a promise that resolves in a later turn.
 */
export function yieldWhenDue(): Promise<void> | undefined {
  // Many callers may wake together, and each works only after its `await`: all would find that the turn has time left.
  if (isGranted) return new Promise((resolve) => waiting.add('', resolve));
  const next = nextTurnWhenDue();
  isGranted = next === undefined;
  // It runs right before the caller continues.
  if (isGranted) queueMicrotask(endGrant);
  return next;
}

/** The same for a caller that works at once if the result is undefined. Requesters take turns in a long queue. */
export function nextTurnWhenDue(requester = ''): Promise<void> | undefined {
  const now = performance.now();
  if (!isTurnOpen) openTurn(now);
  if (now < turnEndsAt && waiting.size === 0) return undefined;
  return new Promise((resolve) => waiting.add(requester, resolve));
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
  if (waiting.size === 0) return;
  openTurn(performance.now());
  resumeNext();
}

/**
 * Resumes one caller after the other until the turn is over; sockets and timers are served before the remaining
 * callers.
 */
function resumeNext(): void {
  if (performance.now() >= turnEndsAt) return;
  waiting.take()?.();
  // After all pending microtasks, when the resumed work has finished or waits for input.
  if (waiting.size > 0) queueMicrotask(() => process.nextTick(resumeNext));
}
