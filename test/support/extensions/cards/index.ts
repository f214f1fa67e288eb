import {
  type Context,
  changeInRoom,
  changeNode,
  type Db,
  defineExtension,
  type ExtensionRow,
  fromRoomEvents,
  newId,
  sql,
} from '@postroom/server/extension';

/* Decks, each with a first card, and cards that move from room to room. */

interface Card extends ExtensionRow {
  authorId: string;
  text: string;
}

export default defineExtension({
  name: 'cards',
  compatibility: '^0.1',
  migrations: [
    {
      name: 'decks and cards',
      statements: ({ text, tableOptions }) => [
        sql`create table "cards_decks" (
          "id" ${text} primary key, "roomId" ${text} not null references rooms ("id") on update cascade on delete cascade, "name" ${text} not null
        ) ${tableOptions}`,
        sql`create table "cards_cards" (
          "id" ${text} primary key, "roomId" ${text} not null references rooms ("id") on delete cascade,
          "authorId" ${text} not null, "text" ${text} not null
        ) ${tableOptions}`,
      ],
    },
  ],
  tables: { cards_decks: {}, cards_cards: { author: 'authorId' } },
  nodes: {
    Deck: { prefix: 'deck', table: 'cards_decks', columns: ['id', 'name'] },
    Card: { prefix: 'card', table: 'cards_cards', columns: ['id', 'text'] },
  },
  events: { CardAdded: { subject: 'Card' } },
  resolvers: {
    Card: { slow: () => new Promise(() => {}) },
    Mutation: {
      addDeck: (_: unknown, { room: id, name }: { room: string; name: string }, context: Context) =>
        changeInRoom(context, { id }, async (_, { append }, { user }, { room }) => {
          const card = { id: newId(context, 'Card'), roomId: room.id, authorId: user.id, text: `first of ${name}` };
          const deck = { id: newId(context, 'Deck'), roomId: room.id, name };
          const store = async (db: Db) => {
            await sql`insert into "cards_decks" ("id", "roomId", "name") values (${deck.id}, ${room.id}, ${name})`.execute(
              db,
            );
            await sql`insert into "cards_cards" ("id", "roomId", "authorId", "text")
              values (${card.id}, ${room.id}, ${user.id}, ${card.text})`.execute(db);
            return deck;
          };
          const event = { type: 'CardAdded', roomId: room.id, subjectId: card.id, version: 1, actorId: user.id };
          return { deck: append({ ...event, store }) };
        }),
      moveCard: (_: unknown, { input }: { input: { id: string; room: string } }, context: Context) =>
        changeNode<Card, object>(context, ['Card', input.id], async (db, { write }, _, { row }) => {
          const moving = sql`update "cards_cards" set "roomId" = ${input.room} where "id" = ${row.id}`.execute(db);
          return { card: write(moving.then(() => ({ ...row, roomId: input.room }))) };
        }),
      countCards: async () => ({ count: 0 }),
    },
    Subscription: { cardAdded: fromRoomEvents('CardAdded') },
  },
});
