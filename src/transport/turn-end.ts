/*
 * What the requests of one turn of the event loop come to leaves together, at its end. A write to a process that sleeps
 * must wake it, which costs the system more than all else of a small answer; to one that is awake already, as the client
 * or the proxy is behind the first write of several, it need not.
 */

export interface Outgoing {
  /** `now` is in milliseconds since 1970. */
  flush(now: number): void;
}

/** So long an answer waits for others at most, but for the one that is worked on. */
const maxHeldMs = 1;

let answers: Outgoing[] = [];
let events: Outgoing[] = [];
let isScheduled = false;
let heldSince = 0;

export function sendAnswerAtTurnEnd(answer: Outgoing): void {
  schedule();
  const now = performance.now();
  if (answers.push(answer) === 1) heldSince = now;
  else if (now - heldSince > maxHeldMs) flushAnswers(Date.now());
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
  const now = Date.now();
  flushAnswers(now);
  const all = events;
  events = [];
  for (const outgoing of all) outgoing.flush(now);
}

function flushAnswers(now: number): void {
  const all = answers;
  answers = [];
  for (const outgoing of all) outgoing.flush(now);
}
