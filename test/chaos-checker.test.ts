import { expect, it } from 'vitest';
import { EventChecker, type Received } from './support/chaos/event-checker.ts';

/** Three acknowledged posts and one without an answer, as one reader received them. */
function check(received: Received[]): string[] {
  const checker = new EventChecker();
  for (const title of ['a', 'b', 'c', 'unanswered']) checker.attempt(title);
  for (const title of ['a', 'b', 'c']) checker.acknowledge('Ada', title);
  checker.addReader('reader', 10);
  for (const item of received) checker.receive('reader', item);
  return checker.findProblems();
}

function event(seq: number, title: string): Received {
  return { type: 'event', seq, mark: 'm', title };
}

it('the checker of chaos tests accepts complete streams, with or without a write that was not answered', () => {
  expect(check([event(11, 'a'), event(12, 'b'), event(13, 'c')])).toEqual([]);
  expect(check([event(11, 'a'), event(12, 'unanswered'), event(13, 'b'), event(14, 'c')])).toEqual([]);
});

it('the checker of chaos tests accepts a loss of which the reader was notified', () => {
  expect(check([event(11, 'a'), { type: 'notice', code: 'CURSOR_EXPIRED', seq: 12 }, event(13, 'c')])).toEqual([]);
});

it.each<[string, Received[], RegExp]>([
  ['a silent gap', [event(11, 'a'), event(13, 'c')], /silent gap/],
  ['a lost post', [event(11, 'a'), event(12, 'b')], /lost acknowledged posts of Ada: c/],
  ['a first event that is not the next one', [event(12, 'a'), event(13, 'b'), event(14, 'c')], /silent gap/],
  ['a repeat', [event(11, 'a'), event(11, 'a'), event(12, 'b'), event(13, 'c')], /repeat/],
  ['a post in two events', [event(11, 'a'), event(12, 'b'), event(13, 'c'), event(14, 'a')], /received twice/],
  ['posts out of order', [event(11, 'b'), event(12, 'a'), event(13, 'c')], /out of order/],
  ['a post that nobody wrote', [event(11, 'a'), event(12, 'b'), event(13, 'c'), event(14, 'x')], /nobody wrote "x"/],
])('the checker of chaos tests finds %s', (_, received, problem) => {
  expect(check(received).join('\n')).toMatch(problem);
});
