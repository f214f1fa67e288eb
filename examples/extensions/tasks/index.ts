import {
  assertInput,
  assertMember,
  assertVersion,
  ClientError,
  type ConnectionArguments,
  type Context,
  changeInRoom,
  changeNode,
  connectionOf,
  type Db,
  defineExtension,
  type ExtensionRow,
  fromRoomEvents,
  insertRow,
  name,
  newId,
  required,
  sql,
  title,
  updateRow,
} from '@postroom/server/extension';

interface Task extends ExtensionRow {
  authorId: string;
  title: string;
  column: string;
  position: number;
  /** In milliseconds since 1970. */
  createdAt: number;
  version: number;
}

type AddTaskInput = { room: string; title: string; column: string };
type MoveTaskInput = { id: string; column: string; before?: string | null; expectedVersion?: number | null };

const tasksOf = connectionOf<Task>('tasks_tasks', { of: 'roomId' });

/** Between a new task and the one before it. It halves with each move between the same two tasks. */
const distance = 2 ** 30;

/** A position before that task, or at the end of the column. @throws ClientError CONFLICT if there is none. */
async function findPosition(db: Db, { id, roomId, column }: Task, before?: string | null): Promise<number> {
  const select = sql`select "position" from "tasks_tasks"
    where "roomId" = ${roomId} and "column" = ${column} and "id" <> ${id}`;
  const [next] = before ? (await sql<Task>`${select} and "id" = ${before}`.execute(db)).rows : [];
  if (before && !next) throw new ClientError('CONFLICT', 'The task that should follow is not in this column.');
  const { rows } = await sql<Task>`${select} and "position" < ${next?.position ?? Number.MAX_SAFE_INTEGER}
    order by "position" desc limit 1`.execute(db);
  if (!next) return (rows[0]?.position ?? 0) + distance;
  const previous = rows[0]?.position ?? next.position - 2 * distance;
  const position = Math.floor((previous + next.position) / 2);
  if (position === previous) throw new ClientError('CONFLICT', 'There is no place left between these two tasks.');
  return position;
}

/** Positions are found while the change is stored: no other event of the room is written meanwhile. */
export default defineExtension({
  name: 'tasks',
  compatibility: '^0.1',
  migrations: [
    {
      name: 'tasks',
      statements: ({ text, bigint, tableOptions }) => [
        sql`create table "tasks_tasks" (
          "id" ${text} primary key, "roomId" ${text} not null references rooms ("id") on delete cascade,
          "authorId" ${text} not null, "title" ${text} not null, "column" ${text} not null,
          "position" ${bigint} not null, "createdAt" ${bigint} not null, "version" integer not null
        ) ${tableOptions}`,
        sql`create index "tasks_byRoom" on "tasks_tasks" ("roomId", "createdAt", "id")`,
        sql`create index "tasks_byPosition" on "tasks_tasks" ("roomId", "column", "position")`,
        sql`create index "tasks_byAuthor" on "tasks_tasks" ("authorId")`,
      ],
    },
  ],
  tables: { tasks_tasks: { author: 'authorId' } },
  nodes: {
    Task: {
      prefix: 't',
      table: 'tasks_tasks',
      columns: ['id', 'roomId', 'title', 'column', 'position', 'createdAt', 'version'],
    },
  },
  events: { TaskAdded: { subject: 'Task' }, TaskMoved: { subject: 'Task', changesContent: true } },
  resolvers: {
    Room: {
      tasks: (room: { id: string }, args: ConnectionArguments, context: Context) => tasksOf(context, room.id, args),
    },
    Mutation: {
      addTask: (_: unknown, { input }: { input: AddTaskInput }, context: Context) =>
        changeInRoom(context, { id: input.room }, async (_, { append }, { user }, { room, isMember }) => {
          assertMember(isMember);
          assertInput(required('title', input.title, title), required('column', input.column, name));
          const [id, roomId, actorId] = [newId(context, 'Task'), room.id, user.id];
          const place = { roomId, column: input.column, position: 0 };
          const task = { id, authorId: actorId, title: input.title, ...place, createdAt: Date.now(), version: 1 };
          const store = async (db: Db) =>
            insertRow(db, 'tasks_tasks', { ...task, position: await findPosition(db, task) });
          return { task: append({ type: 'TaskAdded', roomId, subjectId: id, version: 1, actorId, store }) };
        }),
      moveTask: (_: unknown, { input }: { input: MoveTaskInput }, context: Context) =>
        changeNode<Task, object>(context, ['Task', input.id], async (_, { append }, { user }, { row, isMember }) => {
          assertMember(isMember);
          assertInput(required('column', input.column, name));
          assertVersion(row, input.expectedVersion);
          const task = { ...row, column: input.column, version: row.version + 1 };
          const store = async (db: Db) =>
            updateRow(db, 'tasks_tasks', { ...task, position: await findPosition(db, task, input.before) });
          const { id: subjectId, roomId, version } = task;
          return { task: append({ type: 'TaskMoved', roomId, subjectId, version, actorId: user.id, store }) };
        }),
    },
    Subscription: { taskChanged: fromRoomEvents('TaskAdded', 'TaskMoved') },
  },
});
