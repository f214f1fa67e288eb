import { failureOf } from '../../client/src/failure.ts';
import type { ConsoleClient } from './client.ts';
import { find, setText } from './elements.ts';
import { type AddressLoad, type LoadOrder, readLoad, type UserLoad } from './operations.ts';
import { phone } from './phone.ts';
import { repeat } from './repeat.ts';
import { type Column, numbers, Table } from './table.ts';

const refreshMs = 10_000;
/** On a phone, where each row is a card. */
const phoneRows = 5;

/** The users and the addresses that cause most of the load. */
export class LoadView {
  readonly #client: ConsoleClient;
  readonly #order = find('load-order', HTMLSelectElement);
  readonly #notice = find('load-notice', HTMLElement);
  readonly #users = createTable<UserLoad>('load-users', {
    title: 'User',
    text: ({ user }) => user?.name ?? 'deleted account',
  });
  readonly #addresses = createTable<AddressLoad>('load-addresses', {
    title: 'Address',
    text: ({ address }) => address,
  });
  /** The number of the latest query; answers of earlier ones are not shown. */
  #latest = 0;

  constructor(client: ConsoleClient) {
    this.#client = client;
    this.#order.addEventListener('change', () => void this.#refresh());
  }

  /** Shows the load, until the signal is aborted. */
  follow(signal: AbortSignal): Promise<void> {
    return repeat(() => this.#refresh(), refreshMs, signal);
  }

  /** Removes everything that the server sent. */
  clear(): void {
    this.#latest += 1;
    this.#order.selectedIndex = 0;
    this.#users.show([]);
    this.#addresses.show([]);
    setText(this.#notice, '');
  }

  /** If the server cannot be reached, the load stays; the state of the page says so. */
  async #refresh(): Promise<void> {
    this.#latest += 1;
    const own = this.#latest;
    const order = this.#order.value as LoadOrder;
    try {
      const { load } = await this.#client.post(readLoad, { order });
      if (own !== this.#latest) return;
      const rows = phone.matches ? phoneRows : undefined;
      this.#users.show(load.users.slice(0, rows));
      this.#addresses.show(load.addresses.slice(0, rows));
      const isEmpty = load.addresses.length === 0;
      setText(this.#notice, isEmpty ? `No ${order.toLowerCase()} in the last five minutes.` : '');
    } catch (error) {
      const { code, message } = failureOf(error);
      if (own === this.#latest && code !== 'NO_ANSWER') setText(this.#notice, message);
    }
  }
}

function createTable<Row extends UserLoad | AddressLoad>(id: string, first: Column<Row>): Table<Row> {
  return new Table<Row>(find(id, HTMLTableElement), {
    columns: [
      first,
      numbers('Operations', (load) => load.operations),
      numbers('Deliveries', (load) => load.deliveries),
      numbers('Refusals', (load) => load.refusals),
    ],
    keyOf: (load, index) => ('user' in load ? (load.user?.id ?? `deleted ${index}`) : load.address),
  });
}
