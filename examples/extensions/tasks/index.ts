import {
  assertInput,
  assertMember,
  assertVersion,
  type ConnectionArguments,
  type Context,
  changeInRoom,
  changeNode,
  connectionOf,
  type Db,
  defineExtension,
  type ExtensionRow,
  fromRoomEvents,
  name,
  newId,
  required,
  sql,
  title,
} from '@postroom/server/extension';

interface Task extends ExtensionRow {
  authorId: string;
  title: string;
  column: string;
  /** In milliseconds since 1970. */
  createdAt: number;
  version: number;
}

interface AddTaskInput {
  room: string;
  title: string;
  column: string;
}

interface MoveTaskInput {
  id: string;
  column: string;
  expectedVersion?: number | null;
}

const tasksOf = connectionOf<Task>('tasks_tasks', { of: 'roomId' });

function insert(db: Db, { id, roomId, authorId, title, column, createdAt, version }: Task) {
  return sql`
    insert into "tasks_tasks" ("id", "roomId", "authorId", "title", "column", "createdAt", "version")
      values (${id}, ${roomId}, ${authorId}, ${title}, ${column}, ${createdAt}, ${version})`.execute(db);
}

function move(db: Db, { id, column, version }: Task) {
  return sql`update "tasks_tasks" set "column" = ${column}, "version" = ${version} where "id" = ${id}`.execute(db);
}

/** Who may do it is the same for both: members of the room. */
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
          "createdAt" ${bigint} not null, "version" integer not null
        ) ${tableOptions}`,
        sql`create index "tasks_byRoom" on "tasks_tasks" ("roomId", "createdAt", "id")`,
        sql`create index "tasks_byAuthor" on "tasks_tasks" ("authorId")`,
      ],
    },
  ],
  tables: { tasks_tasks: { author: 'authorId' } },
  nodes: {
    Task: { prefix: 't', table: 'tasks_tasks', columns: ['id', 'roomId', 'title', 'column', 'createdAt', 'version'] },
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
          const { title: text, column } = input;
          const task = { id, roomId, authorId: actorId, title: text, column, createdAt: Date.now(), version: 1 };
          const store = (db: Db) => insert(db, task).then(() => task);
          return { task: append({ type: 'TaskAdded', roomId, subjectId: id, version: 1, actorId, store }) };
        }),
      moveTask: (_: unknown, { input }: { input: MoveTaskInput }, context: Context) =>
        changeNode<Task, object>(context, ['Task', input.id], async (_, { append }, { user }, { row, isMember }) => {
          assertMember(isMember);
          assertInput(required('column', input.column, name));
          assertVersion(row, input.expectedVersion);
          const task = { ...row, column: input.column, version: row.version + 1 };
          const store = (db: Db) => move(db, task).then(() => task);
          const { id: subjectId, roomId, version } = task;
          return { task: append({ type: 'TaskMoved', roomId, subjectId, version, actorId: user.id, store }) };
        }),
    },
    Subscription: { taskChanged: fromRoomEvents('TaskAdded', 'TaskMoved') },
  },
});
