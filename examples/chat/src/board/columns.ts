import type { Place, Task } from './tasks.ts';

export interface Column {
  name: string;
  /** In the order of their positions. */
  tasks: readonly Task[];
}

export const ways = ['left', 'up', 'down', 'right'] as const;
export type Way = (typeof ways)[number];

/** They are shown also without tasks. The server adds a new task to the first. */
const names = ['To do', 'Doing', 'Done'];

export function toColumns(tasks: readonly Task[]): Column[] {
  const all = new Set([...names, ...tasks.map(({ column }) => column)]);
  const sorted = tasks.toSorted((one, other) => one.position - other.position);
  return [...all].map((name) => ({ name, tasks: sorted.filter(({ column }) => column === name) }));
}

/** The place of a task after it was moved that way; undefined if there is none. */
export function findPlace(columns: readonly Column[], task: Task, way: Way): Place | undefined {
  const { column } = task;
  const index = columns.findIndex(({ name }) => name === column);
  const own = columns[index]?.tasks ?? [];
  const row = own.indexOf(task);
  if (way === 'up') return own[row - 1] && { column, before: own[row - 1]?.id };
  if (way === 'down') return own[row + 1] && { column, before: own[row + 2]?.id };
  const next = columns[index + (way === 'left' ? -1 : 1)];
  return next && { column: next.name };
}
