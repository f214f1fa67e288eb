/** The events of the extensions of examples/extensions. */
export const extensionEvents: readonly string[] = ['TaskAdded', 'TaskMoved', 'PostReacted'];

/** A version of a task, as it was stored. */
interface TaskVersion {
  version: number;
  title: string;
  column: string;
  /** When it was committed. */
  at: number;
}

interface Reaction {
  emoji: string;
  userId: string;
}

interface ExtensionModelParts {
  all: (text: string, ...values: string[]) => Record<string, unknown>[];
  now: () => number;
  onDefect: (message: string) => void;
}

/** What is true of the tasks and reactions of the extensions, read right after each commit. */
export class ExtensionModel {
  /** The tasks that were ever stored, by title: no two have the same one. */
  readonly tasks = new Map<string, string>();
  /** Their versions, in the order of their commits. */
  readonly #versions = new Map<string, TaskVersion[]>();
  /** The version of the latest event of each task in the present history. */
  readonly #announced = new Map<string, number>();
  /** The reactions of each post: all states that were ever stored, and since when. */
  readonly #reactions = new Map<string, { at: number; reactions: Reaction[] }[]>();
  /** Those of the latest event of each post in the present history. */
  readonly #shown = new Map<string, Reaction[]>();
  readonly #parts: ExtensionModelParts;

  constructor(parts: ExtensionModelParts) {
    this.#parts = parts;
  }

  /** An event of a room was committed. */
  record({ type, subjectId: id, version }: { type: string; subjectId: string; version: number }): void {
    if (type === 'PostReacted') this.#shown.set(id, this.#reactionsTo(id));
    if (type !== 'TaskAdded' && type !== 'TaskMoved') return;
    const expected = type === 'TaskAdded' ? 1 : (this.#announced.get(id) ?? 0) + 1;
    if (version !== expected)
      this.#parts.onDefect(`${type} of ${id} has the version ${version} instead of ${expected}`);
    this.#announced.set(id, version);
    const [task] = this.#parts.all('select title, "column", version from tasks_tasks where id = ?', id);
    if (!task) return;
    const [title, column, at] = [String(task['title']), String(task['column']), this.#parts.now()];
    this.#versions.set(id, [...this.versionsOf(id), { version: Number(task['version']), title, column, at }]);
    const other = this.tasks.get(title);
    if (other !== undefined && other !== id) this.#parts.onDefect(`"${title}" is stored twice`);
    this.tasks.set(title, id);
  }

  /** Reads the reactions after a commit: those of a deleted account go without an event. */
  update(): void {
    const rows = this.#parts.all(
      'select postId, emoji, userId from reactions_reactions order by postId, emoji, userId',
    );
    const byPost = Map.groupBy(rows.map(toReaction), ({ postId }) => postId);
    for (const postId of new Set([...byPost.keys(), ...this.#reactions.keys()])) {
      const states = this.#reactions.get(postId) ?? [{ at: Number.NEGATIVE_INFINITY, reactions: [] }];
      this.#reactions.set(postId, states);
      const reactions = byPost.get(postId) ?? [];
      if (JSON.stringify(states.at(-1)?.reactions) !== JSON.stringify(reactions))
        states.push({ at: this.#parts.now(), reactions });
    }
  }

  /** The database has returned to an earlier state. */
  rewind(): void {
    this.#announced.clear();
    for (const { id, version } of this.#parts.all('select id, version from tasks_tasks'))
      this.#announced.set(String(id), Number(version));
    for (const postId of this.#shown.keys()) this.#shown.set(postId, this.#reactionsTo(postId));
  }

  versionsOf(taskId: string): readonly TaskVersion[] {
    return this.#versions.get(taskId) ?? [];
  }

  /** The version of a task that can be read now. */
  versionNow(id: string): number | undefined {
    const [task] = this.#parts.all('select version from tasks_tasks where id = ?', id);
    return task && Number(task['version']);
  }

  /** The room of a task, or of a post. */
  roomOf(id: string): string | undefined {
    const text = 'select roomId from tasks_tasks where id = ? union all select roomId from posts where id = ?';
    const [row] = this.#parts.all(text, id, id);
    return row && String(row['roomId']);
  }

  /** The reactions that a post had at some moment since a time. */
  reactionsSince(postId: string, time: number): readonly Reaction[][] {
    const states = this.#reactions.get(postId) ?? [];
    const first = states.findLastIndex(({ at }) => at < time);
    return states.slice(Math.max(0, first)).map(({ reactions }) => reactions);
  }

  /** What differs between the events and the tables; undefined if nothing does. `isDeleted`: of a user. */
  findContradiction(isDeleted: (userId: string) => boolean): string | undefined {
    for (const { id, version } of this.#parts.all('select id, version from tasks_tasks')) {
      const announced = this.#announced.get(String(id));
      if (version !== announced) return `task ${id} has the version ${version}, and its events say ${announced}`;
    }
    const posts = this.#parts.all('select id from posts').map(({ id }) => String(id));
    for (const id of posts) {
      const [stored, shown] = [this.#reactionsTo(id), this.#shown.get(id) ?? []].map((reactions) =>
        JSON.stringify(reactions.filter(({ userId }) => !isDeleted(userId))),
      );
      if (stored !== shown) return `post ${id} has the reactions ${stored}, and its events say ${shown}`;
    }
    return undefined;
  }

  #reactionsTo(postId: string): Reaction[] {
    const text = 'select postId, emoji, userId from reactions_reactions where postId = ? order by emoji, userId';
    return this.#parts.all(text, postId).map(toReaction);
  }
}

function toReaction({ postId, emoji, userId }: Record<string, unknown>): Reaction & { postId: string } {
  return { postId: String(postId), emoji: String(emoji), userId: String(userId) };
}
