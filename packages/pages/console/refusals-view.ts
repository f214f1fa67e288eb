import { failureOf } from '../../client/src/failure.ts';
import type { ConsoleClient } from './client.ts';
import { find, setText } from './elements.ts';
import { formatTime } from './format.ts';
import { listRefusals, type RefusalRow } from './operations.ts';
import { phone } from './phone.ts';
import { repeat } from './repeat.ts';
import { Table } from './table.ts';

const refreshMs = 10_000;
/** On a phone, where each row is a card. */
const phoneRows = 10;

/** The latest operations that were answered with an error, or the one with a request id. */
export class RefusalsView {
  readonly #client: ConsoleClient;
  readonly #form = find('refusal-search', HTMLFormElement);
  readonly #id = find('refusal-id', HTMLInputElement);
  readonly #notice = find('refusals-notice', HTMLElement);
  readonly #table = new Table<RefusalRow>(find('refusals', HTMLTableElement), {
    columns: [
      { title: 'Code', text: ({ code }) => code },
      { title: 'Reason', text: ({ reason }) => reason, isLong: true },
      { title: 'Time', text: ({ time }) => formatTime(time) },
      { title: 'Operation', text: ({ operation }) => operation ?? '–' },
      { title: 'Viewer', text: ({ viewer }) => viewer?.name ?? '–' },
      { title: 'Address', text: ({ address }) => address },
      { title: 'Node', text: ({ node }) => node },
      { title: 'Request id', text: ({ requestId }) => requestId, isLong: true },
    ],
    keyOf: ({ requestId }) => requestId,
  });
  /** The request id that is searched for. */
  #searched = '';
  /** The number of the latest query; answers of earlier ones are not shown. */
  #latest = 0;

  constructor(client: ConsoleClient) {
    this.#client = client;
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#search(this.#id.value.trim());
    });
    find('refusal-clear', HTMLButtonElement).addEventListener('click', () => {
      this.#form.reset();
      this.#search('');
    });
  }

  /** Shows the refusals, until the signal is aborted. */
  follow(signal: AbortSignal): Promise<void> {
    return repeat(() => this.#refresh(), refreshMs, signal);
  }

  /** Removes everything that the server sent. */
  clear(): void {
    this.#latest += 1;
    this.#form.reset();
    this.#searched = '';
    this.#table.show([]);
    setText(this.#notice, '');
  }

  #search(requestId: string): void {
    this.#searched = requestId;
    void this.#refresh();
  }

  /** If the server cannot be reached, the refusals stay; the state of the page says so. */
  async #refresh(): Promise<void> {
    this.#latest += 1;
    const own = this.#latest;
    const requestId = this.#searched === '' ? undefined : this.#searched;
    try {
      const { refusals } = await this.#client.post(listRefusals, { requestId });
      if (own !== this.#latest) return;
      this.#table.show(refusals.slice(0, phone.matches ? phoneRows : undefined));
      setText(this.#notice, refusals.length === 0 ? describeNone(requestId) : '');
    } catch (error) {
      const { code, message } = failureOf(error);
      if (own === this.#latest && code !== 'NO_ANSWER') setText(this.#notice, message);
    }
  }
}

function describeNone(requestId: string | undefined): string {
  return requestId === undefined ? 'No refusals so far.' : `No refusal has the request id “${requestId}”.`;
}
