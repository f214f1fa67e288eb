/** How long work may hold the event loop before everything else gets a turn. */
const maxTurnMs = 5;

let turnEndsAt = 0;
let isTurnOpen = false;
const waiting: (() => void)[] = [];

/**
 * Call it between two pieces of work, as `await yieldWhenDue()`. Undefined as long as this turn of the event loop has time
 * left; then a promise that resolves in a later turn, in the order of the calls.
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

/** One after the other until the turn is over: sockets and timers are served before the rest. */
function resumeNext(): void {
  if (performance.now() >= turnEndsAt) return;
  waiting.shift()?.();
  if (waiting.length > 0) queueMicrotask(resumeLater);
}

/** Once nothing more happens without input: the work that was resumed has done its part by then. */
function resumeLater(): void {
  process.nextTick(resumeNext);
}
