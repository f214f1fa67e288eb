import { failureOf } from '../../client/src/failure.ts';
import type { ConsoleClient } from './client.ts';
import { cancelQuestion, confirmAction } from './confirm-dialog.ts';
import { clearConnectionSearch, followConnectionSearch } from './connection-search.ts';
import { find, setText } from './elements.ts';
import { formatBytes, formatMs, formatNumber, formatTime } from './format.ts';
import { type ConnectionFilter, type ConnectionRow, endConnection, listConnections } from './operations.ts';
import { phone } from './phone.ts';
import { repeat } from './repeat.ts';
import { numbers, Table } from './table.ts';

const pageSize = 50;
/** Of a phone, where each row is a card. */
const phonePageSize = 10;
const refreshMs = 3_000;

/** A page of the open connections, which can be searched and ended. */
export class ConnectionsView {
  readonly #client: ConsoleClient;
  readonly #found = find('connections-found', HTMLElement);
  readonly #notice = find('connections-notice', HTMLElement);
  readonly #first = find('first-page', HTMLButtonElement);
  readonly #more = find('next-page', HTMLButtonElement);
  readonly #table: Table<ConnectionRow>;
  #filter: ConnectionFilter = {};
  /** What the search asks before its filter is complete. */
  #question = '';
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
    followConnectionSearch({
      client,
      show: (filter, question) => this.#search(filter, question),
      showFailure: (error) => setText(this.#notice, failureOf(error).message),
    });
  }

  /** Shows the connections, until the signal is aborted. */
  follow(signal: AbortSignal): Promise<void> {
    return repeat(() => this.#refresh(), refreshMs, signal);
  }

  /** Removes everything that the server sent. */
  clear(): void {
    cancelQuestion();
    clearConnectionSearch();
    this.#filter = {};
    this.#question = '';
    this.#refusal = '';
    this.#latest += 1;
    this.#after = undefined;
    this.#table.show([]);
    for (const text of [this.#found, this.#notice]) setText(text, '');
  }

  #search(filter: ConnectionFilter, question = ''): void {
    this.#filter = filter;
    this.#question = question;
    setText(this.#notice, '');
    this.#turn(undefined);
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
      const variables = { first, after: this.#after, filter: this.#filter };
      const { connections } = await this.#client.post(listConnections, variables);
      if (own !== this.#latest) return;
      // The connections of this page may all have ended.
      if (connections.nodes.length === 0 && this.#after !== undefined) return this.#turn(undefined);
      const { hasNextPage, endCursor } = connections.pageInfo;
      this.#next = (hasNextPage && endCursor) || undefined;
      this.#table.show(connections.nodes);
      this.#showTotal(connections.total);
      this.#showRefusal('');
      this.#first.disabled = this.#after === undefined;
      this.#more.disabled = this.#next === undefined;
    } catch (error) {
      const { code, message } = failureOf(error);
      if (own === this.#latest && code !== 'NO_ANSWER') this.#showRefusal(message);
    }
  }

  /** The status has the number of all connections. */
  #showTotal(total: number): void {
    const isFiltered = Object.keys(this.#filter).length > 0;
    setText(this.#found, this.#question || (isFiltered ? describeTotal(total) : ''));
  }

  /** Another notice stays when there is no refusal. */
  #showRefusal(message: string): void {
    if (message !== this.#refusal) setText(this.#notice, message);
    this.#refusal = message;
  }

  async #end(connection: ConnectionRow): Promise<void> {
    const name = describe(connection);
    const question = { text: `End ${name}? Its client may connect again.`, verb: 'End connection' };
    if (!(await confirmAction(question))) return;
    try {
      await this.#client.post(endConnection, { input: { id: connection.id } });
      setText(this.#notice, `Ended ${name}.`);
    } catch (error) {
      setText(this.#notice, `Could not end ${name}: ${error instanceof Error ? error.message : error}`);
    }
    await this.#refresh();
  }
}

function describeTotal(total: number): string {
  if (total === 0) return 'No connection matches the search.';
  return total === 1 ? '1 connection matches the search.' : `${formatNumber(total)} connections match the search.`;
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
