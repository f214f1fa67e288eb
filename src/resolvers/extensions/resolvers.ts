import type { RoomRow } from '../../data/tables.ts';
import type { Context } from '../context.ts';
import { resolveEvents } from '../room-event.ts';
import { runOnce } from '../rules/idempotency.ts';
import { isClosed, loadRoom } from '../rules/rows.ts';
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
  for (const [type, fields] of Object.entries(resolveEvents(events))) all[type] = { ...fields, ...resolvers[type] };
  if (resolvers['Mutation']) all['Mutation'] = mapValues(Mutation, (resolve) => runOnce(resolve as never));
  if (resolvers['Room']) all['Room'] = mapValues(Room, (resolve) => hidingClosed(resolve as ExtensionResolver));
  return all;
}

const roomOf = ({ roomId }: ExtensionRow, _: unknown, { loaders }: Context) => loadRoom(loaders, roomId);

/** A former member may see that a room is there, and nothing that is in it: no row has this id. */
function hidingClosed(resolve: ExtensionResolver) {
  return (room: RoomRow, ...rest: [args: never, context: Context, info: never]) =>
    resolve((isClosed(room) ? { ...room, id: '' } : room) as never, ...rest);
}

function mapValues<Value, Mapped>(values: Readonly<Record<string, Value>>, map: (value: Value) => Mapped) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}
