import type { StreamEvent } from '../../data/event-log/events.ts';
import type { PostRow, RoomRow } from '../../data/tables.ts';
import type { Context } from '../context.ts';
import { eventFields } from '../room-event.ts';
import { runOnce } from '../rules/idempotency.ts';
import { findLivingUser, isClosed, loadRoom } from '../rules/rows.ts';
import type { ExtensionResolver, LoadedExtension } from './extension.ts';
import type { ExtensionRow } from './extensions.ts';

type TypeResolvers = Record<string, unknown>;

/** The resolvers of an extension, with those that it need not write. */
export function resolversOf({
  nodes = {},
  events = {},
  resolvers = {},
}: LoadedExtension): Record<string, TypeResolvers> {
  const { Mutation = {}, Room = {}, ...others } = resolvers;
  const all: Record<string, TypeResolvers> = { ...others };
  for (const type of Object.keys(nodes)) all[type] = { room: roomOf, ...resolvers[type] };
  for (const [type, { subject }] of Object.entries(events))
    all[type] = { ...eventFields, [fieldOf(subject)]: subjectOf(subject), ...resolvers[type] };
  if (resolvers['Mutation']) all['Mutation'] = mapValues(Mutation, (resolve) => runOnce(resolve as never));
  if (resolvers['Room']) all['Room'] = mapValues(Room, (resolve) => hidingClosed(resolve as ExtensionResolver));
  return all;
}

/** The name of the field with the subject of an event: that of its type. */
export function fieldOf(type: string): string {
  return type.charAt(0).toLowerCase() + type.slice(1);
}

const roomOf = ({ roomId }: ExtensionRow, _: unknown, { loaders }: Context) => loadRoom(loaders, roomId);

/** Null after the subject was deleted, or moved to another room, which the viewers of this one may not see. */
function subjectOf(type: string) {
  return async ({ subjectId, roomId }: StreamEvent, _: unknown, { loaders, services }: Context) => {
    if (type === 'User') return findLivingUser(loaders, subjectId);
    const row = await (type === 'Post'
      ? loaders.post.load(subjectId)
      : loaders.by(services.extensions.ofType(type).find, subjectId));
    // Only its author may see a draft.
    const isDraft = type === 'Post' && (row as PostRow | undefined)?.publishedAt === null;
    return row?.roomId === roomId && !isDraft ? row : null;
  };
}

/** A former member may see that a room is there, and nothing that is in it: no row has this id. */
function hidingClosed(resolve: ExtensionResolver) {
  return (room: RoomRow, ...rest: [args: never, context: Context, info: never]) =>
    resolve((isClosed(room) ? { ...room, id: '' } : room) as never, ...rest);
}

function mapValues<Value, Mapped>(values: Readonly<Record<string, Value>>, map: (value: Value) => Mapped) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}
