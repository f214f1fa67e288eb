// The options that users have copied from docs/resume.md before there was @postroom/client: they keep working.
/** Options for `createClient` of graphql-ws: its subscriptions resume after the last event that they received. */
export function resumable() {
  const seen = new Map(); // by the id of each operation that is active: a cursor, or those of an inbox by room and user
  const ended = new Set(); // ids of the last connection that were not subscribed again
  const see = (id, cursor) => seen.has(id) && seen.set(id, cursor);
  const seeRoom = (rooms, { room, cursor, ended, cursors }) => {
    if (ended) delete rooms[room];
    else rooms[room] = cursor;
    Object.assign(rooms, cursors);
  };
  return {
    connectionParams: () => ({ live: { seen: Object.fromEntries(seen) } }),
    on: {
      connected: () => seen.forEach((_, id) => ended.add(id)),
      ping: (_, payload) => {
        for (const [id, cursor] of Object.entries(payload?.live ?? {})) see(id, cursor);
        for (const [id, cursors] of Object.entries(payload?.cursors ?? {})) Object.assign(seen.get(id) ?? {}, cursors);
      },
      message: (/** @type {any} */ { type, id, payload }) => {
        if (type === 'connection_ack') return;
        ended.forEach((id) => seen.delete(id));
        ended.clear();
        if (type === 'error' || type === 'complete') seen.delete(id);
        else if (payload?.extensions?.live?.room) seeRoom(seen.get(id) ?? {}, payload.extensions.live);
        else if (payload?.extensions?.live) see(id, payload.extensions.live.cursor);
      },
    },
    // Called with each message that the client sends.
    jsonMessageReplacer: (key, value) => {
      if (key !== '') return value;
      ended.delete(value.id);
      if (value.type === 'complete') seen.delete(value.id);
      if (value.type === 'subscribe') seen.set(value.id, seen.get(value.id));
      return value;
    },
  };
}
