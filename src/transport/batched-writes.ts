/*
 * What the requests of one turn of the event loop come to leaves together, at its end. A write to a process that sleeps
 * must wake it, which costs the system more than all else of a small answer; to one that is awake already, as the client
 * or the proxy is behind the first write of several, it need not.
 */

export interface Outgoing {
  /** `now` is in milliseconds since 1970. */
  flush(now: number): void;
}

/** So long an answer waits for other answers at most, but for the one that is worked on. */
const maxHeldMs = 1;

let answers: Outgoing[] = [];
let events: Outgoing[] = [];
let isScheduled = false;
let heldSince = 0;

export function sendAnswerAtTurnEnd(answer: Outgoing): void {
  schedule();
  const now = performance.now();
  if (answers.push(answer) === 1) heldSince = now;
  else if (now - heldSince > maxHeldMs) sendHeldAnswers();
}

export function sendEventsAtTurnEnd(ofOneSocket: Outgoing): void {
  schedule();
  events.push(ofOneSocket);
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(endTurn);
}

/** Whoever made an event is answered before it goes to many. */
function endTurn(): void {
  isScheduled = false;
  sendHeldAnswers();
  const all = events;
  events = [];
  const now = Date.now();
  for (const outgoing of all) outgoing.flush(now);
}

/** Before anything that takes long in the same turn, or that writes to their sockets by another way. */
export function sendHeldAnswers(): void {
  if (answers.length === 0) return;
  const all = answers;
  answers = [];
  const now = Date.now();
  for (const outgoing of all) outgoing.flush(now);
}
