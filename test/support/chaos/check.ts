import { query } from '../database/postgres-query.ts';
import type { Journal } from './journal.ts';
import type { RoomStream, Segment } from './stream.ts';
import type { Change, Write } from './writers.ts';

const created = ['PostCreated', 'TaskAdded'];

interface LogRow {
  roomId: string;
  seq: number;
  mark: string;
  at: number;
  type: string;
  subjectId: string;
  version: number;
  /** That of its post or task. */
  title: string | null;
}

type Position = Segment['from'];

/** The log of each room, read past all nodes. */
export type Logs = Map<string, LogRow[]>;

export async function readLogs(databaseUrl: string, hasExtensions = false): Promise<Logs> {
  const tasks = hasExtensions ? 'left join "tasks_tasks" on "tasks_tasks"."id" = "subjectId"' : '';
  const title = hasExtensions ? 'coalesce("posts"."title", "tasks_tasks"."title")' : '"posts"."title"';
  const rows = await query<LogRow>(
    databaseUrl,
    `select "roomEvents"."roomId", "seq"::int as "seq", "mark"::text as "mark", "roomEvents"."at"::float8 as "at", "type", "subjectId",
       "roomEvents"."version", ${title} as "title"
     from "roomEvents" left join "posts" on "posts"."id" = "subjectId" ${tasks} order by "roomEvents"."seq"`,
  );
  return Map.groupBy(rows, ({ roomId }) => roomId);
}

/** The log has each number once, its times increase, and each stream has received it. */
export function checkStreams(logs: Logs, streams: readonly RoomStream[], journal: Journal): void {
  for (const [room, log] of logs) checkLog(room, log, journal);
  for (const stream of streams) checkStream(stream, logs.get(stream.room) ?? [], journal);
}

function checkLog(room: string, log: readonly LogRow[], journal: Journal): void {
  for (const [index, { seq, at }] of log.entries()) {
    if (seq !== index + 1) return journal.violate(`the log of ${room} has ${seq} at the place of ${index + 1}`);
    const previous = log[index - 1]?.at ?? 0;
    if (at <= previous) journal.violate(`event ${seq} of ${room} has the time ${at}, and the one before ${previous}`);
  }
}

function checkStream({ name, segments }: RoomStream, log: readonly LogRow[], journal: Journal): void {
  for (const { from, events, end } of segments) {
    let last: Position = from;
    for (const event of events) {
      if (event.seq !== last.seq + 1) journal.violate(`${name} received ${event.seq} after ${last.seq}`);
      last = event;
      // A client that was notified has received events that were lost later.
      const row = isIn(log, event) ? log[event.seq - 1] : undefined;
      if (!row && !end) journal.violate(`${name} received ${event.seq}, which is not in the log`);
      if (row && event.title !== undefined && event.title !== row.title) {
        journal.violate(`${name} received ${event.title}, but event ${event.seq} is ${row.title}`);
      }
    }
    if (end?.code === 'CURSOR_EXPIRED' && isIn(log, last)) {
      journal.violate(`${name} ended with CURSOR_EXPIRED after ${last.seq}, which is in the log`);
    }
    // These clients read, and nothing is trimmed.
    if (end?.code === 'SLOW_CONSUMER') journal.violate(`${name} ended with SLOW_CONSUMER after ${last.seq}`);
  }
}

/** Whether the log has this number with this mark. A cursor has its mark in another notation. */
function isIn(log: readonly LogRow[], { seq, mark }: Position): boolean {
  return seq === 0 || Number(log[seq - 1]?.mark) === Number.parseInt(mark, 16);
}

/** Acknowledged changes of tasks and posts are in the log, once and with ascending versions; refused ones are nowhere. */
export function checkChanges(logs: Logs, changes: readonly Change[], journal: Journal): void {
  const events = Map.groupBy([...logs.values()].flat(), ({ subjectId }) => subjectId);
  for (const [id, all] of events) {
    const task = all.filter(({ type }) => type.startsWith('Task'));
    const versions = task.map(({ version }) => version);
    if (versions.some((version, index) => version !== index + 1))
      journal.violate(`the events of task ${id} have the versions ${versions}`);
  }
  for (const [id, all] of Map.groupBy(changes, ({ subjectId }) => subjectId)) {
    const count = events.get(id)?.filter(({ type }) => type === 'TaskMoved' || type === 'PostReacted').length ?? 0;
    const [least, unknown] = ['acknowledged', 'unknown'].map(
      (outcome) => all.filter((each) => each.outcome === outcome).length,
    );
    if (count < Number(least) || count > Number(least) + Number(unknown))
      journal.violate(`${id} has ${count} events of ${least} acknowledged changes and ${unknown} unknown ones`);
  }
}

/** Acknowledged posts and tasks are in the log, in the order of each writer; refused ones are nowhere. */
export function checkWrites(logs: Logs, writes: readonly Write[], journal: Journal): void {
  const places = new Map<string, number[]>();
  for (const log of logs.values()) {
    for (const { title, seq, type } of log)
      if (title !== null && created.includes(type)) places.set(title, [...(places.get(title) ?? []), seq]);
  }
  const latest = new Map<string, number>();
  for (const { title, room, writer, outcome, via } of writes) {
    const found = places.get(title) ?? [];
    if (found.length > 1) journal.violate(`${title} is stored ${found.length} times (${outcome}, ${via})`);
    if (outcome === 'refused' && found.length > 0) journal.violate(`${title} was refused by ${via} and is stored`);
    if (outcome !== 'acknowledged') continue;
    const [seq] = found;
    if (seq === undefined) {
      journal.violate(`${title} was acknowledged by ${via} and is lost`);
      continue;
    }
    const key = `${writer} ${room}`;
    if (seq < (latest.get(key) ?? 0)) journal.violate(`${title} of ${writer} is before an earlier post`);
    latest.set(key, seq);
  }
}
