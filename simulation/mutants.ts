import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A defect, as one change of a file of `src`: the simulator must find each. */
export interface Mutant {
  name: string;
  file: string;
  from: string;
  to: string;
}

/** The file of a mutant with its defect. @throws an Error unless the text that it replaces is there exactly once. */
export function readMutated(root: string, { name, file, from, to }: Mutant): string {
  const path = join(root, 'src', file);
  const parts = (existsSync(path) ? readFileSync(path, 'utf8') : '').split(from);
  const times = parts.length - 1;
  if (times !== 1)
    throw new Error(`src/${file} must have the text of the mutant "${name}" once, and has it ${times} times.`);
  return parts.join(to);
}

export const mutants: readonly Mutant[] = [
  {
    name: 'heads are not compared',
    file: 'live/comparison.ts',
    from: 'for (const chunk of chunksOf([...list()], maxCompared)) await',
    to: 'for (const chunk of chunksOf([...list()].slice(0, 0), maxCompared)) await',
  },
  {
    name: 'the mark of an event is not checked',
    file: 'data/event-log/events.ts',
    from: 'return seq === position.seq + 1 && previousMark === position.mark;',
    to: 'return seq === position.seq + 1 && previousMark >= 0;',
  },
  {
    name: 'the messages that arrive while a feed opens are dropped',
    file: 'live/feed/feed.ts',
    from: 'for (const message of early) this.#receive(message);',
    to: 'void early;',
  },
  {
    name: 'a message of the bus is delivered whatever its number',
    file: 'live/feed/feed.ts',
    from: 'if (this.#isRepeated(event)) return;\n',
    to: 'if (!this.#syncing.running && !this.#traitsOf(event).mayEndAccess) return this.#process(event);\n',
  },
  {
    name: 'an event that is older than the head is taken for new',
    file: 'live/feed/feed.ts',
    from: 'if (follows(event, this.head) &&',
    to: 'if (event.seq > this.head.seq &&',
  },
  {
    name: 'access is checked after the delivery',
    file: 'live/feed/feed.ts',
    from: 'if (event === ends[0] || event === ends.at(-1)) await this.checkAccess();\n      this.#process(this.#withTrace(event));',
    to: 'this.#process(this.#withTrace(event));\n      if (event === ends[0] || event === ends.at(-1)) await this.checkAccess();',
  },
  {
    name: 'access is not checked when a stream begins',
    file: 'live/fan-out.ts',
    from: 'await feed.checkAccess([subscriber]);',
    to: '',
  },
  {
    name: 'viewers who lose access stay',
    file: 'live/feed/feed.ts',
    from: '!members.has(userId)',
    to: 'members.size < 0',
  },
  {
    name: 'a replay starts one event later',
    file: 'live/groups/follower.ts',
    from: 'if (event.seq <= this.position.seq) continue;\n      if (event.type',
    to: 'if (event.seq <= this.position.seq || (event.seq === this.position.seq + 1 && events.length > 3 && event === events[0])) continue;\n      if (event.type',
  },
  {
    name: 'a member that falls behind continues after the head',
    file: 'live/groups/follower.ts',
    from: 'this.advanceTo(position);\n    this.group?.fallBehind(this);\n    this.stream.catchUp',
    to: 'this.advanceTo(this.feed.head);\n    this.group?.fallBehind(this);\n    this.stream.catchUp',
  },
  {
    name: 'a rewind does not clear the recent events',
    file: 'live/feed/feed.ts',
    from: 'this.head = head;\n    this.#log.clear();\n    for (const group',
    to: 'this.head = head;\n    for (const group',
  },
  {
    name: 'a follower does not learn that its position may be of a lost history',
    file: 'live/feed/feed.ts',
    from: 'this.generation += 1;\n    this.head = head;',
    to: 'this.head = head;',
  },
  {
    name: 'trimmed events are skipped in silence',
    file: 'data/event-log/events.ts',
    from: "if (first?.seq !== after.seq + 1 || events.at(-1)?.seq !== after.seq + events.length) return 'trimmed';\n  return follows(first, after) ? events",
    to: "if (!first) return 'trimmed';\n  return first.seq !== after.seq + 1 || follows(first, after) ? events",
  },
  {
    name: 'a deleted post is replayed from the cache',
    file: 'live/groups/groups.ts',
    from: '...event, content: undefined, room',
    to: '...event, room',
  },
  {
    name: 'a room of an inbox passes the MemberLeft of its user',
    file: 'live/groups/follower.ts',
    from: 'encoded.leftBy === this.stream.leavingUserId',
    to: "encoded.leftBy === ''",
  },
  {
    name: 'a room that has ended while the client was away is dropped in silence',
    file: 'live/inbox/positions.ts',
    from: 'clientPositions: new Map(positions.entries().filter(([roomId]) => changed.has(roomId))),',
    to: 'clientPositions: new Map(),',
  },
  {
    name: 'a MemberLeft does not wait for the events before it',
    file: 'live/inbox/inbox.ts',
    from: '|| !this.#isOpen(follower) || (await promise);',
    to: '|| true;\n    void promise;',
  },
  {
    name: 'the content of a private room is sent to a client that was away when its user lost the room',
    file: 'live/inbox/inbox.ts',
    from: 'return maySee ? position : last;',
    to: 'return position;',
  },
  {
    name: 'a room ends with the MemberLeft of another history',
    file: 'live/inbox/inbox.ts',
    from: 'if (isRewound || isReadFailure(events))',
    to: 'void isRewound;\n    if (isReadFailure(events))',
  },
  {
    name: 'RoomRead has an earlier position of its room',
    file: 'live/inbox/inbox.ts',
    from: 'if (isDeepStrictEqual(findCursors(), cursors)) return',
    to: 'return',
  },
  {
    name: 'a room that begins is missing in the cursors of the next message',
    file: 'live/inbox/positions.ts',
    from: 'return [...this.unsentStarts.keys()].filter((roomId) => roomId !== exceptRoomId);',
    to: 'return [];',
  },
  {
    name: 'the logs of users are not compared',
    file: 'live/inbox/inboxes.ts',
    from: 'if (moved.has(inbox.request.userId) ||',
    to: 'if (',
  },
  {
    name: 'an inbox does not notice that the log of its user was rewound',
    file: 'live/inbox/inbox.ts',
    from: 'if (isReadFailure(events)) await this.#expire();',
    to: 'if (isReadFailure(events)) return [];',
  },
  {
    name: 'an inbox keeps the rooms of a lost history with which it was opened',
    file: 'live/inbox/inbox.ts',
    from: 'else if (this.#positions.isInHistoryOf(events)) return events;',
    to: 'else if (this.#positions.isInHistoryOf(events) || true) return events;',
  },
  {
    name: 'an inbox that ended while it was opened remains among those of its user',
    file: 'live/inbox/inboxes.ts',
    from: 'if (!inbox.hasStopped) await',
    to: 'await',
  },
  {
    name: 'a read of a room that has left an inbox ends the inbox',
    file: 'live/groups/follower.ts',
    from: 'if (!this.feed.deleted) this.stream.onUnreadable(this, events);',
    to: 'this.stream.onUnreadable(this, events);',
  },
  {
    name: 'a cursor of another room is accepted',
    file: 'live/fan-out.ts',
    from: "if (position?.roomId !== feed.roomId) throw new ClientError('CURSOR_INVALID');",
    to: "if (!position) throw new ClientError('CURSOR_INVALID');\n    if (position.roomId !== feed.roomId) return { position: head };",
  },
  {
    name: 'a session that was ended is not noticed',
    file: 'identity/credential-watch.ts',
    from: 'watched.onInvalid();',
    to: '',
  },
  {
    name: 'a commit is acknowledged before its flush',
    file: 'data/sqlite/writer.ts',
    from: 'await durable;',
    to: 'void durable;',
  },
  {
    name: 'a transaction that fails is not undone',
    file: 'data/sqlite/writer.ts',
    from: 'if (isFirst) return connection.rollback();',
    to: 'if (isFirst) return;',
  },
  {
    name: 'a state that waits for a slow client is dropped',
    file: 'live/states/state-streams.ts',
    from: 'if (!this.#hasRead) return this.#setLatest(message);',
    to: 'if (!this.#hasRead) return;',
  },
  {
    name: 'the report of a node is valid for ever',
    file: 'live/presence/reports.ts',
    from: 'node.lease = setTimeout(() => this.#forget(id), Math.min(maxLeaseMs, leaseMs)).unref();',
    to: '',
  },
  {
    name: 'a late report of presence replaces a newer one',
    file: 'live/presence/reports.ts',
    from: 'if (page.number <= (node.pages.get(index)?.number ?? 0)) return;',
    to: '',
  },
  {
    name: 'a stream that stops does not release its feed',
    file: 'live/fan-out.ts',
    from: 'for (const all of [this.#subscribers, feed.subscribers]) all.delete(subscriber);\n    this.feeds.release',
    to: 'for (const all of [this.#subscribers, feed.subscribers]) all.delete(subscriber);\n    if (subscriber.request.after === undefined) this.feeds.release',
  },
  {
    name: 'a cursor is accepted whatever its mark',
    file: 'live/feed/room-log.ts',
    from: "if (after.seq === head.seq) return after.mark === head.mark ? [] : 'rewound';",
    to: 'if (after.seq === head.seq) return [];',
  },
  {
    name: 'an event of an extension is not published',
    file: 'changes/commit-change.ts',
    from: 'recorded.push(handled(message));',
    to: "handled(message);\n      if (!newEvent.type.startsWith('Task')) recorded.push(message);",
  },
  {
    name: 'an event of an extension has another version than its row',
    file: 'resolvers/extensions/rows.ts',
    from: 'return record.append(event as NewPlainEvent<Row>);',
    to: 'return record.append({ ...event, version: event.version + 1 } as NewPlainEvent<Row>);',
  },
  {
    name: 'a change of an extension is stored without its event',
    file: 'resolvers/extensions/rows.ts',
    from: 'return record.append(event as NewPlainEvent<Row>);',
    to: "return type === 'PostReacted' ? (event as NewPlainEvent<Row>).store(db) : record.append(event as NewPlainEvent<Row>);",
  },
  {
    name: 'a subscription of an extension leaves out one of its types',
    file: 'resolvers/room-event.ts',
    from: '(types.includes(typeOf(event, schema)) ? event : undefined)',
    to: '(types[0] === typeOf(event, schema) ? event : undefined)',
  },
  {
    name: 'a node without an extension leaves out its events',
    file: 'resolvers/room-event.ts',
    from: 'if (!types) return (event) => event;',
    to: "if (!types) return (event) => (typeOf(event, schema) === 'OtherEvent' ? undefined : event);",
  },
];
