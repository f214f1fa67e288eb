import {
  type ChangeRecord,
  ClientError,
  type Context,
  changeInRoom,
  type Db,
  defineExtension,
  type ExtensionRow,
  fromRoomEvents,
  load,
  newId,
  sql,
} from '@postroom/server/extension';

/* Mistakes that a developer may make in resolvers and changes. */

const never = () => new Promise<never>(() => {});

function circular(): Error {
  const error = new Error('circular');
  return Object.assign(error, { cause: error });
}

/** What resolvers throw that is no ordinary error. */
const thrown: Record<string, () => unknown> = {
  undefined: () => undefined,
  'a text': () => 'text',
  'an error that is its own cause': circular,
  'an error without a readable message': () =>
    Object.defineProperty(new Error(), 'message', {
      get: () => {
        throw new Error('getter');
      },
    }),
  'an error of 5 MB': () => new Error('x'.repeat(5_000_000)),
  'an error with an unknown code': () => new ClientError('NO_SUCH_CODE' as 'FORBIDDEN', 'no such code'),
  'an error that cannot be serialised': () => new ClientError('FORBIDDEN', 'extras', { retryAfterMs: 1n } as never),
};

/** What resolvers return that is no text. */
const returned: Record<string, (context: Context) => unknown> = {
  'a symbol': () => Symbol('x'),
  'an object that cannot be serialised': () => ({
    toJSON() {
      throw new Error('toJSON');
    },
  }),
  'a batch without a map': (context) => load(context, (async () => undefined) as never, 'key'),
  'a write by a read': ({ db }) => sql`delete from "slips_slips"`.execute(db).then(() => 'written'),
};

export default defineExtension({
  name: 'slips',
  compatibility: '^0.1',
  migrations: [
    {
      name: 'slips',
      statements: ({ text, tableOptions }) => [
        sql`create table "slips_slips" (
          "id" ${text} primary key, "roomId" ${text} not null references rooms ("id") on delete cascade, "text" ${text} not null
        ) ${tableOptions}`,
        sql`create index "slips_byRoom" on "slips_slips" ("roomId")`,
      ],
    },
  ],
  tables: { slips_slips: {} },
  nodes: { Slip: { prefix: 'slip', table: 'slips_slips', columns: ['id', 'text'] } },
  events: { SlipAdded: { subject: 'Slip' } },
  resolvers: {
    Slip: {
      thrown(_: ExtensionRow, { what }: { what: string }) {
        throw thrown[what]?.();
      },
    },
    Query: {
      slips: (_: unknown, { what }: { what: string }, context: Context) => returned[what]?.(context),
    },
    Mutation: {
      addSlip: (_: unknown, { room: id, what }: { room: string; what: string }, context: Context) =>
        changeInRoom(context, { id }, async (db, record, { user }, { room }) => {
          const slip = { id: newId(context, 'Slip'), roomId: room.id, text: what };
          const store = (database: Db) =>
            sql`insert into "slips_slips" ("id", "roomId", "text") values (${slip.id}, ${room.id}, ${what})`
              .execute(database)
              .then(() => slip);
          const event = { type: 'SlipAdded', roomId: room.id, subjectId: slip.id, version: 1, actorId: user.id, store };
          return { slip: (await changes[what]?.(db, record, event)) ?? record.append(event) };
        }),
    },
    Subscription: { slipAdded: fromRoomEvents('SlipAdded') },
  },
});

type Event = Parameters<ChangeRecord['append']>[0] & { store: (db: Db) => Promise<unknown> };

/** Changes that are wrong. */
const changes: Record<string, (db: Db, record: ChangeRecord, event: Event) => unknown> = {
  'an event of no extension': (_, { append }, event) => append({ ...event, type: 'SlipAdd' as never }),
  'an event of Postroom': (_, { append }, event) => append({ ...event, type: 'RoomUpdated' as never }),
  'an event of no room': (_, { append }, event) => append({ ...event, roomId: 'r00000000000000000000000000' }),
  'an event without a subject': (_, { append }, event) => append({ ...event, subjectId: undefined as never }),
  'an event without a store': (_, { append }, event) => append({ ...event, store: undefined as never }),
  'a failed statement that is not awaited': (db, { append }, event) => {
    sql`insert into "no_such_table" values (1)`.execute(db).catch(() => {});
    return append(event);
  },
  'a wait without end': never,
  'a store without end': (_, { append }, event) => append({ ...event, store: never }),
  'a thrown null': () => {
    throw null;
  },
};
