import { fields, integer, listOf, number, orNull, type Parsed, text } from '../../common/parsers.ts';
import type { DatabaseKind } from '../../data/database/database.ts';
import type { BusKind } from '../bus/bus.ts';
import { firstOf } from '../first-of.ts';

const queueDepthFields = { name: text, depth: integer };

/** The state of one node. Durations are in milliseconds; rates are those of the last full second. */
const nodeStatusFields = {
  name: text,
  version: text,
  nodeVersion: text,
  /** In milliseconds since 1970. */
  startedAt: integer,
  connections: integer,
  subscriptions: integer,
  roomsFollowed: integer,
  operationsPerSecond: number,
  deliveriesPerSecond: number,
  failedOperationsPerSecond: number,
  lagMs: number,
  slowConsumers: integer,
  queues: listOf(fields(queueDepthFields)),
  memoryBytes: number,
  eventLoopLagMs: number,
};

/** The number of operations that were answered with this code first. `lastAt` is in milliseconds since 1970. */
const errorCountFields = { code: text, count: integer, lastAt: orNull(integer) };

const roomFollowersFields = { roomId: text, followers: integer };

/** What one node contributes to the state of the server: with the rooms with the most subscriptions on it, at most 100. */
export const parseReport = fields({
  status: fields(nodeStatusFields),
  errors: listOf(fields(errorCountFields)),
  rooms: listOf(fields(roomFollowersFields)),
});
export type NodeReport = Parsed<typeof parseReport>;
export type ErrorCount = NodeReport['errors'][number];
export type RoomFollowers = NodeReport['rooms'][number];

const maxRooms = 20;

/** The state of the server, as one of its nodes sees it. */
export interface ServerStatus {
  /** In milliseconds since 1970. */
  time: number;
  /** By name. */
  nodes: NodeReport['status'][];
  database: { kind: DatabaseKind; version: string; isUp: boolean };
  bus: { kind: BusKind; isUp: boolean };
  mostFollowedRooms: RoomFollowers[];
  errors: NodeReport['errors'];
}

/** Joins the reports of all nodes. */
export function joinReports(
  reports: readonly NodeReport[],
): Pick<ServerStatus, 'nodes' | 'mostFollowedRooms' | 'errors'> {
  const nodes = reports.map(({ status }) => status).sort((one, other) => (one.name < other.name ? -1 : 1));
  const followers = new Map<string, number>();
  for (const { rooms } of reports)
    for (const room of rooms) followers.set(room.roomId, (followers.get(room.roomId) ?? 0) + room.followers);
  return { nodes, mostFollowedRooms: mostFollowed(followers, maxRooms), errors: joinErrors(reports) };
}

/** The rooms with the most followers, first. */
export function mostFollowed(all: Iterable<[roomId: string, followers: number]>, limit: number): RoomFollowers[] {
  const most = firstOf(all, limit, ([, followers], [, others]) => followers > others);
  return most.map(([roomId, followers]) => ({ roomId, followers }));
}

/** The errors of all nodes, most frequent first. */
function joinErrors(reports: readonly NodeReport[]): NodeReport['errors'] {
  const byCode = new Map<string, NodeReport['errors'][number]>();
  for (const { code, count, lastAt } of reports.flatMap(({ errors }) => errors)) {
    const joined = byCode.get(code) ?? { count: 0, lastAt: null };
    byCode.set(code, { code, count: joined.count + count, lastAt: Math.max(joined.lastAt ?? 0, lastAt ?? 0) || null });
  }
  return [...byCode.values()].sort((one, other) => other.count - one.count);
}
