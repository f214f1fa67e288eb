import type { Committed, Model, UserEvent } from './model.ts';
import type { EventData } from './socket.ts';

/** An event at the moment in which a node writes it. */
interface Written {
  model: Model;
  userId: string;
  event: EventData;
  /** Since when the node knows what is true now; undefined if it may show an older state, or that of another history. */
  since: number | undefined;
}

/** The field of an event that differs from the model; undefined if none does. */
export function findWrongField(written: Written, expected: Committed): string | undefined {
  const { model, userId, event, since } = written;
  const { roomId, subjectId } = expected;
  const role = event.room?.viewerRole;
  const isKnown = since !== undefined && model.rooms.has(roomId) && model.movedAt(userId, roomId) < since;
  const wrong = {
    post: isPostShown(written) ? isWrongPost(written, expected) : false,
    reactions: isWrongReactions(written, expected),
    task: isTaskShown(written) ? isWrongTask(written, expected) : false,
    postId: event.postId !== undefined && event.postId !== subjectId,
    user: isWrongUser(written, event.user, subjectId),
    viewerRole: role !== undefined && isKnown && (role !== null) !== model.isMember(userId, roomId),
  };
  return findCommon(written, expected) ?? findKey(wrong);
}

/** The field of a RoomRead that differs from the event in the log of its user; undefined if none does. */
export function findWrongRead(written: Written, read: UserEvent): string | undefined {
  const { model, userId, event, since } = written;
  const { unread, lastRead } = event.room ?? {};
  const common = findCommon(written, { ...read, actorId: userId });
  if (common !== undefined || lastRead == null || since === undefined || model.isMovedSince(userId, read))
    return common;
  const at = Date.parse(lastRead);
  const [least, most] = model.unreadSince(userId, read);
  const isCount = typeof unread === 'number' && unread >= least && unread <= most;
  return findKey({ lastRead: at < read.readUpTo || at > model.readUpTo(userId, read.roomId), unread: !isCount });
}

/** The fields that all events have. */
function findCommon(
  written: Written,
  { roomId, actorId, time, type }: Pick<Committed, 'roomId' | 'actorId' | 'time' | 'type'>,
): string | undefined {
  const { at, actor, room } = written.event;
  const { model } = written;
  const hasNoName = (type === 'MemberLeft' && room?.name === 'private room') || model.ended.has(roomId);
  return findKey({
    at: at !== undefined && Date.parse(at) !== time,
    actor: isWrongUser(written, actor, actorId),
    room: room?.id !== undefined && room.id !== roomId,
    roomName: room?.name !== undefined && room.name !== model.names.get(roomId) && !hasNoName,
  });
}

function findKey(wrong: Record<string, boolean>): string | undefined {
  return Object.keys(wrong).find((name) => wrong[name]);
}

/** A deleted user is null, some time after the deletion; the log has no actor then. */
function isWrongUser({ model, since = 0 }: Written, shown: EventData['user'], expected: string | null): boolean {
  if (shown === undefined) return false;
  if (shown === null) return expected !== null && !model.deletedAt.has(expected);
  const isDeleted = model.deleted.has(shown.id);
  const isNamed = shown.id === expected || (expected === null && isDeleted);
  return !isNamed || (isDeleted && (model.deletedAt.get(shown.id) ?? since) < since);
}

/** A live event has the post as it was written, and a replay has it as it is now. */
function isWrongPost({ model, event: { post }, since }: Written, { subjectId, version }: Committed): boolean {
  const now = model.versionNow(subjectId);
  if (!post) return post === undefined || (since !== undefined && now !== undefined);
  const versions = model.versionsOf(subjectId);
  // A rewind may have stored another version with the same number.
  const isText = versions.some((each) => each.version === post.version && each.title === post.title);
  const isName = post.author.name === model.names.get(post.author.id) || model.deletedAt.has(post.author.id);
  if (post.id !== subjectId || post.author.id !== versions.at(-1)?.authorId || !isText || !isName) return true;
  const known = since === undefined ? 0 : (versions.findLast(({ at }) => at < since)?.version ?? 0);
  // A later version may be lost.
  const present = Math.min(known, now ?? 0);
  // A rewind may have undone the change of the event.
  const least = since === undefined && model.rewinds > 0 ? 0 : Math.min(version, now ?? version);
  const most = Math.max(...versions.map((each) => each.version));
  return post.version < least || post.version > most || (post.version > version && post.version < present);
}

function isPostShown({ event }: Written): boolean {
  return ['PostCreated', 'PostUpdated', 'PostReacted'].includes(event.__typename);
}

function isTaskShown({ event }: Written): boolean {
  return event.__typename === 'TaskAdded' || event.__typename === 'TaskMoved';
}

/** A live event has the task as it is when the event is executed, and a replay has it as it is now. */
function isWrongTask({ model, event: { task }, since }: Written, { subjectId, version }: Committed): boolean {
  const now = model.extensions?.versionNow(subjectId);
  if (!task) return task === undefined || (since !== undefined && now !== undefined);
  const versions = model.extensions?.versionsOf(subjectId) ?? [];
  const stored = versions.filter((each) => each.version === task.version);
  // Of the versions that are written with one commit only the last is known.
  const isContent =
    stored.length === 0 || stored.some((each) => each.title === task.title && each.column === task.column);
  if (task.id !== subjectId || !isContent) return true;
  const known = since === undefined ? 0 : (versions.findLast(({ at }) => at < since)?.version ?? 0);
  const present = Math.min(known, now ?? 0);
  const least = since === undefined && model.rewinds > 0 ? 0 : Math.min(version, now ?? version);
  const most = Math.max(...versions.map((each) => each.version));
  return task.version < least || task.version > most || (task.version > version && task.version < present);
}

/** The reactions are those that the post had at some moment since the event. */
function isWrongReactions({ model, userId, event: { post }, since }: Written, { subjectId, at }: Committed): boolean {
  const shown = post?.reactions;
  if (!shown) return false;
  const from = since === undefined && model.rewinds > 0 ? Number.NEGATIVE_INFINITY : at;
  const states = model.extensions?.reactionsSince(subjectId, from) ?? [];
  const isOwn = (emoji: string, has: boolean) =>
    states.some((state) => state.some((each) => each.emoji === emoji && each.userId === userId) === has);
  const isCount = states.some((state) => {
    const counts = Map.groupBy(state, ({ emoji }) => emoji);
    return counts.size === shown.length && shown.every(({ emoji, count }) => counts.get(emoji)?.length === count);
  });
  return !isCount || shown.some(({ emoji, viewerHasReacted: has }) => has !== undefined && !isOwn(emoji, has));
}
