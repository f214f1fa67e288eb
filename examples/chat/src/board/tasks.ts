import { type PostroomClient as Client, createStore, type Failure, follow, type Store } from '@postroom/client';

/* The tasks of a room, which the extension examples/extensions/tasks adds to the server. */

export interface Task {
  id: string;
  title: string;
  column: string;
  position: number;
  version: number;
}

/** Where a task is moved to: before another task, or to the end of the column. */
export type Place = { column: string; before?: string | undefined };

export interface TaskState {
  /** Undefined until they were read. */
  tasks?: readonly Task[];
  failure?: Failure | undefined;
}

export interface TaskStore extends Store<TaskState> {
  add: (title: string) => Promise<void>;
  /** Fails with CONFLICT if the task, or the one that it is moved before, was moved meanwhile. */
  move: (task: Task, place: Place) => Promise<void>;
}

const fields = 'id title column position version';
const readPage = `query ($room: ID!, $after: String) { room(id: $room) { cursor
  tasks(first: 100, after: $after) { nodes { ${fields} } pageInfo { hasNextPage endCursor } } } }`;
const followTasks = `subscription ($room: ID!, $after: String) { taskChanged(room: $room, after: $after) {
  ... on TaskAdded { task { ${fields} } } ... on TaskMoved { task { ${fields} } } } }`;
const addTask = `mutation ($input: AddTaskInput!) { addTask(input: $input) { task { ${fields} } } }`;
const moveTask = `mutation ($input: MoveTaskInput!) { moveTask(input: $input) { task { ${fields} } } }`;

interface Page {
  room: {
    cursor: string;
    tasks: { nodes: Task[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };
  } | null;
}

/** Whether the server has the extension. */
export async function hasTasks(client: Client): Promise<boolean> {
  const answer = await client.request<{ __type: object | null }>('{ __type(name: "Task") { name } }');
  return answer.__type !== null;
}

/** The tasks of a room, which their events keep up to date. */
export function taskStore(client: Client, room: string): TaskStore {
  const store = createStore<TaskState>({}, () =>
    follow<{ taskChanged: { task?: Task | null } }>({
      client,
      query,
      subscription: followTasks,
      // A task is null if it was deleted since: which one, only a query can tell.
      apply: ({ taskChanged: { task } }) => (task ? put(task) : false),
      onFailure: (failure) => store.update({ failure }),
    }),
  );

  async function query(): Promise<() => Record<string, unknown>> {
    const tasks: Task[] = [];
    let start: string | undefined;
    for (let after: string | null | undefined; after !== null; ) {
      const { room: found } = await client.request<Page>(readPage, { room, after });
      if (!found) throw { extensions: { code: 'NOT_FOUND' }, message: 'The room is not available.' };
      // The events after the first page also change the tasks of the later ones.
      start ??= found.cursor;
      tasks.push(...found.tasks.nodes);
      after = found.tasks.pageInfo.hasNextPage ? found.tasks.pageInfo.endCursor : null;
    }
    return () => {
      store.update({ tasks });
      return { room, after: start };
    };
  }

  /** Shows a task, unless a later version is shown already: the answer to a move may arrive after its event. */
  function put(changed: Task): boolean {
    const { tasks = [] } = store.get();
    const others = tasks.filter(({ id }) => id !== changed.id);
    const isOld = tasks.some(({ id, version }) => id === changed.id && version >= changed.version);
    if (!isOld) store.update({ tasks: [...others, changed] });
    return true;
  }

  return {
    get: store.get,
    subscribe: store.subscribe,
    add: async (title) => {
      const answer = await client.request<{ addTask: { task: Task } }>(addTask, { input: { room, title } });
      put(answer.addTask.task);
    },
    move: async ({ id, version }, { column, before }) => {
      const input = { id, column, before, expectedVersion: version };
      const answer = await client.request<{ moveTask: { task: Task } }>(moveTask, { input });
      put(answer.moveTask.task);
    },
  };
}
