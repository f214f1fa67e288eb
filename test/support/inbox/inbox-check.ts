import { EventStream } from '../clients/event-stream.ts';
import { openCursor } from '../rooms/cursors.ts';
import type { Person, Postroom } from '../server/postroom.ts';
import type { Device, Received } from './inbox-device.ts';
import type { BusyRoom } from './inbox-traffic.ts';

interface Logged {
  type: string;
  seq: number;
  userId: string | undefined;
}

/** The events from one MemberJoined of the viewer, or the start of the inbox, to the next MemberLeft. */
interface Period {
  events: Logged[];
  isOver: boolean;
}

const logQuery = `subscription ($room: ID!, $after: String) { roomEvents(room: $room, after: $after) {
  __typename cursor ... on MemberJoined { user { id } } ... on MemberLeft { user { id } }
} }`;

/** The log of a room. */
async function readLog(postroom: Postroom, { id: room, owner }: BusyRoom): Promise<Logged[]> {
  const { seq: count } = openCursor(await postroom.cursorOf(room, owner.token));
  const after = Buffer.from(`00000000.0.${room}`).toString('base64url');
  const headers = { authorization: `Bearer ${owner.token}` };
  const stream = await EventStream.open(postroom.graphqlUrl, logQuery, headers, { room, after });
  const log: Logged[] = [];
  while (log.length < count) {
    const { data } = await stream.results.next();
    const { __typename: type, cursor, user } = data.roomEvents;
    log.push({ type, seq: openCursor(cursor).seq, userId: user?.id });
  }
  stream.response.destroy();
  return log;
}

/** The periods in which the viewer was a member. `start`: the position from which the inbox follows the room. */
function periodsOf(log: readonly Logged[], viewer: Person, start: number | undefined): Period[] {
  const periods: Period[] = start === undefined ? [] : [{ events: [], isOver: false }];
  for (const event of log) {
    if (start !== undefined && event.seq <= start) continue;
    const isOwn = event.userId === viewer.id;
    if (isOwn && event.type === 'MemberJoined') periods.push({ events: [], isOver: false });
    const period = periods.at(-1);
    if (!period || period.isOver) continue;
    period.events.push(event);
    if (isOwn && event.type === 'MemberLeft') period.isOver = true;
  }
  return periods;
}

/** What is wrong with the events that a device has received. */
export async function findFaults(
  postroom: Postroom,
  viewer: Person,
  device: Device,
  rooms: Iterable<BusyRoom>,
): Promise<string[]> {
  const faults: string[] = [];
  for (const room of rooms) {
    const received = device.rooms.get(room.id) ?? [];
    const found = room.isDeleted
      ? findDeletedFaults(device, room)
      : findRoomFaults(device, room, periodsOf(await readLog(postroom, room), viewer, device.start?.get(room.id)));
    faults.push(...[...findOrderFaults(received), ...found].map((fault) => `${room.id}: ${fault}`));
  }
  return faults;
}

function findOrderFaults(received: readonly Received[]): string[] {
  return received.flatMap(({ type, seq }, index) => {
    const before = received[index - 1];
    if (before?.type === 'RoomDeleted') return [`${type} ${seq} after RoomDeleted`];
    if (type === 'RoomDeleted' || !before || seq > before.seq) return [];
    return [`${type} ${seq} after ${before.type} ${before.seq}`];
  });
}

function findRoomFaults(device: Device, room: BusyRoom, periods: readonly Period[]): string[] {
  const faults: string[] = [];
  const received = new Map((device.rooms.get(room.id) ?? []).map((event) => [event.seq, event]));
  for (const { events, isOver } of periods) {
    const got = events.flatMap(({ seq }) => received.get(seq) ?? []);
    for (const { seq } of got) received.delete(seq);
    const missing = events.length - got.length;
    // Of a private room that the viewer has lost, events before the end may be left out.
    const isShort = room.isPrivate && isOver && got.at(-1)?.hasGap;
    const isPrefix = got.slice(0, -1).every(({ seq }, index) => seq === events[index]?.seq);
    if (missing > 0 ? isShort && isPrefix : !got.some(({ hasGap }) => hasGap)) continue;
    faults.push(
      `${missing} of ${events.length} events lost, ${isOver ? 'ended' : 'open'}: got ${got.map(({ seq }) => seq)}`,
    );
  }
  return received.size === 0 ? faults : [...faults, `events while the viewer was no member: ${[...received.keys()]}`];
}

/** The log of the room is deleted with it: its acknowledged posts are compared. */
function findDeletedFaults(device: Device, room: BusyRoom): string[] {
  const [end, ...others] = room.ends;
  const received = device.rooms.get(room.id) ?? [];
  const isKnown = received.length > 0 && received.at(-1)?.type !== 'MemberLeft';
  if (isKnown && received.at(-1)?.type !== 'RoomDeleted') return ['no RoomDeleted'];
  if (!end || others.length > 0 || device.wasAway(end)) return [];
  const titles = received.flatMap(({ title }) => title ?? []);
  const before = room.titles.length - titles.length;
  const isComplete = before <= room.titlesBefore && titles.join() === room.titles.slice(before).join();
  return isComplete ? [] : [`posts lost before the deletion: ${titles} of ${room.titles}`];
}
