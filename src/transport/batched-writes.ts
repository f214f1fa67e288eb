/*
 * The answers and events of one turn of the event loop are written at its end: with ten events in a turn, a delivery
 * takes a quarter of the CPU time. Answers that are written at once fail the attack `unread-answers`: the event loop is
 * blocked for 0.3 s and more.
 */

import { containEach, type Failing } from '../common/contain.ts';

export interface PendingWrite extends Failing {
  /** `now` is in milliseconds since 1970. */
  flush(now: number): void;
}

/** The maximum time that an answer waits for other answers, not counting the answer that is being produced. */
const maxQueuedMs = 1;

let answers: PendingWrite[] = [];
let events: PendingWrite[] = [];
let isScheduled = false;
let queuedSince = 0;

export function sendAnswerAtTurnEnd(answer: PendingWrite): void {
  schedule();
  const now = performance.now();
  if (answers.push(answer) === 1) queuedSince = now;
  else if (now - queuedSince > maxQueuedMs) flushAnswers();
}

export function sendEventsAtTurnEnd(eventsOfSocket: PendingWrite): void {
  schedule();
  events.push(eventsOfSocket);
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(endTurn);
}

/**
 * Answers are sent before events: the client that caused an event receives its answer before the event is fanned out.
 */
function endTurn(): void {
  isScheduled = false;
  flushAnswers();
  const all = events;
  events = [];
  flush(all);
}

/** Call it before slow work in the same turn, and before writing to a socket directly. */
export function flushAnswers(): void {
  if (answers.length === 0) return;
  const all = answers;
  answers = [];
  flush(all);
}

function flush(writes: readonly PendingWrite[]): void {
  const now = Date.now();
  containEach(writes, (write) => write.flush(now));
}
