import { createResume } from '../packages/client/src/resume.ts';
import type { Received } from './socket.ts';

/** What @postroom/client keeps of one subscription, from the messages that the simulated client receives. */
export class PackageClient {
  readonly #resume = createResume();
  #subscriptions = 0;
  /** Of the present subscription; undefined after its end. */
  #id: string | undefined;

  /** Connects, and subscribes. Returns the cursors that it sends; undefined for a subscription that begins. */
  connect(): readonly string[] | undefined {
    const { connectionParams, on, jsonMessageReplacer } = this.#resume;
    const seen = this.#id === undefined ? undefined : connectionParams().live.seen[this.#id];
    this.#subscriptions += Number(this.#id === undefined);
    this.#id ??= String(this.#subscriptions);
    on.connected(undefined, undefined, true);
    jsonMessageReplacer('', { type: 'subscribe', id: this.#id, payload: {} });
    return seen === undefined ? undefined : Object.values(typeof seen === 'string' ? [seen] : seen);
  }

  receive(received: Received): void {
    const id = this.#id;
    const { on } = this.#resume;
    if (id === undefined) return;
    if (received.kind === 'next') on.message({ type: 'next', id, payload: received.message });
    if (received.kind === 'error') {
      on.message({ type: 'error', id });
      this.#id = undefined;
    }
    if (received.kind !== 'position' || received.cursor === undefined) return;
    const { cursor, userCursor } = received;
    on.message({ type: 'ping' });
    on.ping(true, { live: { [id]: structuredClone(cursor) }, ...(userCursor && { cursors: { [id]: userCursor } }) });
  }
}
