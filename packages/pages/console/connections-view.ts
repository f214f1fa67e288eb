import { failureOf } from '../../client/src/failure.ts';
import type { ConsoleClient } from './client.ts';
import { find, setText } from './elements.ts';
import { cancelEnd, confirmEnd } from './end-dialog.ts';
import { formatBytes, formatMs, formatNumber, formatTime } from './format.ts';
import { type ConnectionRow, endConnection, listConnections } from './operations.ts';
import { pause } from './pause.ts';
import { numbers, Table } from './table.ts';

const pageSize = 50;
/** Of a phone, where each row is a card. */
const phonePageSize = 10;
const phone = matchMedia('(max-width: 40rem)');
const refreshMs = 3_000;

/** A page of the open connections, which can be ended. */
export class ConnectionsView {
  readonly #client: ConsoleClient;
  readonly #total = find('total', HTMLElement);
  readonly #notice = find('connections-notice', HTMLElement);
  readonly #first = find('first-page', HTMLButtonElement);
  readonly #more = find('next-page', HTMLButtonElement);
  readonly #table: Table<ConnectionRow>;
  /** The cursor before the page that is shown, and that after it. */
  #after: string | undefined;
  #next: string | undefined;
  /** Why the latest query was refused. */
  #refusal = '';
  /** The number of the latest query; answers of earlier ones are not shown. */
  #latest = 0;

  constructor(client: ConsoleClient) {
    this.#client = client;
    this.#table = createTable((connection) => void this.#end(connection));
    this.#first.addEventListener('click', () => this.#turn(undefined));
    this.#more.addEventListener('click', () => this.#turn(this.#next));
  }

  /** Shows the connections, until the signal is aborted. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!document.hidden) await this.#refresh();
      await pause(refreshMs, signal);
    }
  }

  /** Removes everything that the server sent. */
  clear(): void {
    cancelEnd();
    this.#refusal = '';
    this.#latest += 1;
    this.#after = undefined;
    this.#table.show([]);
    for (const text of [this.#total, this.#notice]) setText(text, '');
  }

  #turn(after: string | undefined): void {
    this.#after = after;
    void this.#refresh();
  }

  /** If the server cannot be reached, the connections stay; the state of the page says so. */
  async #refresh(): Promise<void> {
    this.#latest += 1;
    const own = this.#latest;
    try {
      const first = phone.matches ? phonePageSize : pageSize;
      const { connections } = await this.#client.post(listConnections, { first, after: this.#after });
      if (own !== this.#latest) return;
      // The connections of this page may all have ended.
      if (connections.nodes.length === 0 && this.#after !== undefined) return this.#turn(undefined);
      const { hasNextPage, endCursor } = connections.pageInfo;
      this.#next = (hasNextPage && endCursor) || undefined;
      this.#table.show(connections.nodes);
      setText(this.#total, formatNumber(connections.total));
      this.#showRefusal('');
      this.#first.disabled = this.#after === undefined;
      this.#more.disabled = this.#next === undefined;
    } catch (error) {
      const { code, message } = failureOf(error);
      if (own === this.#latest && code !== 'NO_ANSWER') this.#showRefusal(message);
    }
  }

  /** Another notice stays when there is no refusal. */
  #showRefusal(message: string): void {
    if (message !== this.#refusal) setText(this.#notice, message);
    this.#refusal = message;
  }

  async #end(connection: ConnectionRow): Promise<void> {
    const name = describe(connection);
    if (!(await confirmEnd(`End ${name}? Its client may connect again.`))) return;
    try {
      await this.#client.post(endConnection, { input: { id: connection.id } });
      setText(this.#notice, `Ended ${name}.`);
    } catch (error) {
      setText(this.#notice, `Could not end ${name}: ${error instanceof Error ? error.message : error}`);
    }
    await this.#refresh();
  }
}

function describe({ viewer, transport, address }: ConnectionRow): string {
  return `the ${nameOf(transport)} of ${viewer?.name ?? 'an anonymous viewer'} from ${address}`;
}

function nameOf(transport: ConnectionRow['transport']): string {
  return { SSE: 'event stream', MULTIPART: 'multipart stream', WEBSOCKET: 'WebSocket' }[transport];
}

function createTable(end: (connection: ConnectionRow) => void): Table<ConnectionRow> {
  return new Table(find('connections', HTMLTableElement), {
    columns: [
      { title: 'Viewer', text: ({ viewer }) => viewer?.name ?? 'anonymous' },
      { title: 'Address', text: ({ address }) => address },
      { title: 'Transport', text: ({ transport }) => nameOf(transport) },
      { title: 'Since', text: ({ since }) => formatTime(since) },
      { title: 'Node', text: ({ node }) => node },
      numbers('Subscriptions', (connection) => connection.subscriptions),
      numbers('Waiting', (connection) => connection.bytesWaiting, formatBytes),
      numbers('Lag', (connection) => connection.lagMs, formatMs),
    ],
    keyOf: ({ id }) => id,
    actions: [{ title: 'End', label: (connection) => `End ${describe(connection)}`, run: end }],
  });
}
