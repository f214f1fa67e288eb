import type { DatabaseKind } from '../../data/database.ts';
import type { BusKind } from '../bus/bus.ts';
import type { ErrorCount, NodeReport, NodeStatus, RoomFollowers } from './node-report.ts';

const maxRooms = 20;

/** The state of the server, as one of its nodes sees it. */
export interface ServerStatus {
  /** In milliseconds since 1970. */
  time: number;
  /** By name. */
  nodes: NodeStatus[];
  database: { kind: DatabaseKind; version: string; isUp: boolean };
  bus: { kind: BusKind; isUp: boolean };
  mostFollowedRooms: RoomFollowers[];
  errors: ErrorCount[];
}

/** Joins the reports of all nodes. */
export function joinReports(
  reports: readonly NodeReport[],
): Pick<ServerStatus, 'nodes' | 'mostFollowedRooms' | 'errors'> {
  const nodes = reports.map(({ status }) => status).sort((one, other) => (one.name < other.name ? -1 : 1));
  return { nodes, mostFollowedRooms: joinRooms(reports), errors: joinErrors(reports) };
}

function joinRooms(reports: readonly NodeReport[]): RoomFollowers[] {
  const followers = new Map<string, number>();
  for (const { rooms } of reports)
    for (const room of rooms) followers.set(room.roomId, (followers.get(room.roomId) ?? 0) + room.followers);
  return mostFollowed(followers, maxRooms);
}

/** The rooms with the most followers, first. */
export function mostFollowed(all: Iterable<[roomId: string, followers: number]>, limit: number): RoomFollowers[] {
  const most: RoomFollowers[] = [];
  // There may be many rooms, and few of them are kept.
  for (const [roomId, followers] of all) {
    if (most.length === limit && followers <= (most.at(-1)?.followers ?? 0)) continue;
    const index = most.findIndex((other) => other.followers < followers);
    most.splice(index < 0 ? most.length : index, 0, { roomId, followers });
    if (most.length > limit) most.pop();
  }
  return most;
}

/** The errors of all nodes, most frequent first. */
function joinErrors(reports: readonly NodeReport[]): ErrorCount[] {
  const byCode = new Map<string, ErrorCount>();
  for (const { code, count, lastAt } of reports.flatMap(({ errors }) => errors)) {
    const joined = byCode.get(code);
    const latest = Math.max(joined?.lastAt ?? 0, lastAt ?? 0);
    byCode.set(code, { code, count: count + (joined?.count ?? 0), lastAt: latest === 0 ? null : latest });
  }
  return [...byCode.values()].sort((one, other) => other.count - one.count);
}
