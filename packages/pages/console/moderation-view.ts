import { failureOf } from '../../client/src/failure.ts';
import type { ConsoleClient } from './client.ts';
import { cancelQuestion } from './confirm-dialog.ts';
import { find, setText } from './elements.ts';
import { type FoundTable, postTable, roomTable, userTable } from './found-tables.ts';
import type { ModerationAction } from './moderation-actions.ts';
import { cancelMute } from './mute-dialog.ts';
import { Table } from './table.ts';

interface Found {
  /** Searches. The result shows the rows, and returns their number. */
  search: (text: string) => Promise<() => number>;
  clear: () => void;
}

/** Finds users, rooms and posts, and runs the actions of an admin with them. */
export class ModerationView {
  readonly #client: ConsoleClient;
  readonly #form = find('moderation', HTMLFormElement);
  readonly #kind = find('moderation-kind', HTMLSelectElement);
  readonly #text = find('moderation-text', HTMLInputElement);
  readonly #notice = find('moderation-notice', HTMLElement);
  readonly #found: Record<string, Found>;
  /** The number of the latest search; answers of earlier ones are not shown. */
  #latest = 0;
  /** The latest search. */
  #repeat = async () => {};

  constructor(client: ConsoleClient) {
    this.#client = client;
    this.#found = { users: this.#create(userTable), rooms: this.#create(roomTable), posts: this.#create(postTable) };
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#search(this.#kind.value, this.#text.value.trim());
    });
  }

  /** Removes everything that the server sent. */
  clear(): void {
    cancelQuestion();
    cancelMute();
    this.#form.reset();
    this.#latest += 1;
    this.#repeat = async () => {};
    this.#clearFound();
  }

  async #search(kind: string, text: string): Promise<void> {
    this.#clearFound();
    const found = this.#found[kind];
    if (!found) return;
    this.#repeat = async () => void (await this.#show(found, text));
    try {
      const count = await this.#show(found, text);
      if (count !== undefined) setText(this.#notice, count === 0 ? `No ${kind} match “${text}”.` : `${count} found.`);
    } catch (error) {
      setText(this.#notice, `Could not search: ${failureOf(error).message}`);
    }
  }

  /** Returns undefined if there is a later search. */
  async #show(found: Found, text: string): Promise<number | undefined> {
    this.#latest += 1;
    const own = this.#latest;
    const show = await found.search(text);
    return own === this.#latest ? show() : undefined;
  }

  async #run<Row>({ run, describe }: ModerationAction<Row>, row: Row): Promise<void> {
    try {
      const done = await run(this.#client, row);
      if (done === undefined) return;
      setText(this.#notice, done);
      await this.#repeat();
    } catch (error) {
      setText(this.#notice, `Could not ${describe(row)}: ${failureOf(error).message}`);
    }
  }

  #clearFound(): void {
    for (const { clear } of Object.values(this.#found)) clear();
    setText(this.#notice, '');
  }

  #create<Row extends { id: string }>({ id, columns, actions, search }: FoundTable<Row>): Found {
    const client = this.#client;
    const region = find(`${id}-region`, HTMLElement);
    const table = new Table<Row>(find(id, HTMLTableElement), {
      columns,
      keyOf: (row) => row.id,
      actions: actions.map((action) => ({
        title: action.title,
        label: (row) => capitalise(action.describe(row)),
        run: (row) => void this.#run(action, row),
      })),
    });
    const show = (rows: readonly Row[]) => {
      region.hidden = rows.length === 0;
      table.show(rows);
      return rows.length;
    };
    return {
      async search(text) {
        const rows = await search(client, text);
        return () => show(rows);
      },
      clear: () => show([]),
    };
  }
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
