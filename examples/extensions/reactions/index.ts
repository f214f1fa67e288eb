import {
  assertInput,
  assertMayPost,
  assertNotMuted,
  ClientError,
  type Context,
  changePostAsViewer,
  type Db,
  defineExtension,
  load,
  problemIf,
  sql,
} from '@postroom/server/extension';

interface Reaction {
  postId: string;
  emoji: string;
}

type ReactionCount = Reaction & { count: number };
type Input = { post: string; emoji: string };

/** As `@listSize` says in the schema. */
const maxEmoji = 20;

async function readCounts(db: Db, postIds: readonly string[]): Promise<Map<string, ReactionCount[]>> {
  const { rows } = await sql<ReactionCount>`
    select "postId", "emoji", cast(count(*) as integer) as "count" from "reactions_reactions"
      where "postId" in (${sql.join(postIds)}) group by "postId", "emoji" order by "count" desc, "emoji"`.execute(db);
  return Map.groupBy(rows, ({ postId }) => postId);
}

/** The reactions of one user. Keys: the id of the user, a space, and that of a post. */
async function readOwn(db: Db, keys: readonly string[]): Promise<Map<string, Reaction[]>> {
  const [userId = ''] = keys[0]?.split(' ') ?? [];
  const postIds = sql.join(keys.map((key) => key.split(' ')[1]));
  const { rows } = await sql<Reaction>`select "postId", "emoji" from "reactions_reactions"
    where "userId" = ${userId} and "postId" in (${postIds})`.execute(db);
  return Map.groupBy(rows, ({ postId }) => `${userId} ${postId}`);
}

function has(reactions: readonly Reaction[] | undefined, emoji: string): boolean {
  return reactions?.some((each) => each.emoji === emoji) ?? false;
}

/** Adds or removes a reaction. The post is locked, so that no two requests add the same, or one emoji too many. */
function change(context: Context, { post: id, emoji }: Input, isAdded: boolean) {
  return changePostAsViewer(context, id, async (db, { append }, { user }, { post, room, isMember, mutedUntil }) => {
    assertMayPost(room, isMember);
    assertNotMuted(mutedUntil);
    // An event would show the draft to others.
    if (post.publishedAt === null) throw new ClientError('CONFLICT', 'The post is not published.');
    assertInput(problemIf(!/^\p{RGI_Emoji}$/v.test(emoji), 'emoji', 'invalid'));
    const key = `${user.id} ${id}`;
    if (has((await readOwn(db, [key])).get(key), emoji) === isAdded) return { post };
    const counts = (await readCounts(db, [id])).get(id) ?? [];
    if (isAdded && counts.length === maxEmoji && !has(counts, emoji))
      throw new ClientError('CONFLICT', `The post has ${maxEmoji} emoji already.`);
    const statement = isAdded
      ? sql`insert into "reactions_reactions" ("roomId", "postId", "userId", "emoji")
          values (${room.id}, ${id}, ${user.id}, ${emoji})`
      : sql`delete from "reactions_reactions" where "postId" = ${id} and "userId" = ${user.id} and "emoji" = ${emoji}`;
    const store = (database: Db) => statement.execute(database).then(() => post);
    const event = { roomId: room.id, subjectId: id, version: post.version, actorId: user.id };
    return { post: append({ type: 'PostReacted', ...event, store }) };
  });
}

export default defineExtension({
  name: 'reactions',
  compatibility: '^0.1',
  migrations: [
    {
      name: 'reactions',
      statements: ({ text, tableOptions }) => [
        sql`create table "reactions_reactions" (
          "postId" ${text} not null references posts ("id") on delete cascade, "userId" ${text} not null,
          "emoji" ${text} not null, "roomId" ${text} not null references rooms ("id") on delete cascade,
          primary key ("postId", "userId", "emoji")
        ) ${tableOptions}`,
        sql`create index "reactions_byRoom" on "reactions_reactions" ("roomId")`,
        sql`create index "reactions_byUser" on "reactions_reactions" ("userId")`,
      ],
    },
  ],
  tables: { reactions_reactions: { user: 'userId' } },
  events: { PostReacted: { subject: 'Post', changesContent: true } },
  resolvers: {
    Post: {
      reactions: async ({ id }: { id: string }, _: unknown, context: Context) =>
        (await load(context, readCounts, id)) ?? [],
    },
    ReactionCount: {
      viewerHasReacted: async ({ postId, emoji }: Reaction, _: unknown, context: Context) =>
        context.viewer !== null && has(await load(context, readOwn, `${context.viewer.user.id} ${postId}`), emoji),
    },
    Mutation: {
      addReaction: (_: unknown, { input }: { input: Input }, context: Context) => change(context, input, true),
      removeReaction: (_: unknown, { input }: { input: Input }, context: Context) => change(context, input, false),
    },
  },
});
