/** The longest time that work may block the event loop before sockets and timers are served. */
const maxTurnMs = 2;

let turnEndsAt = 0;
let isTurnOpen = false;
const waiting: (() => void)[] = [];

/**
 * Call it between two pieces of work, as `await yieldWhenDue()`. Returns undefined while this turn of the event loop
 * has time left; after that, a promise that resolves in a later turn, in the order of the calls.
 */
export function yieldWhenDue(): Promise<void> | undefined {
  const now = performance.now();
  if (!isTurnOpen) openTurn(now);
  if (now < turnEndsAt && waiting.length === 0) return undefined;
  return new Promise((resolve) => waiting.push(resolve));
}

function openTurn(now: number): void {
  isTurnOpen = true;
  turnEndsAt = now + maxTurnMs;
  setImmediate(endTurn);
}

function endTurn(): void {
  isTurnOpen = false;
  if (waiting.length === 0) return;
  openTurn(performance.now());
  resumeNext();
}

/**
 * Resumes one caller after the other until the turn is over; sockets and timers are served before the remaining
 * callers.
 */
function resumeNext(): void {
  if (performance.now() >= turnEndsAt) return;
  waiting.shift()?.();
  if (waiting.length > 0) queueMicrotask(resumeLater);
}

/** Runs after all pending microtasks, when the resumed work has finished or waits for input. */
function resumeLater(): void {
  process.nextTick(resumeNext);
}
