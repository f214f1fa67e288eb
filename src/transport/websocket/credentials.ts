import { contain, type Failing } from '../../common/contain.ts';
import { maxTimeoutMs, type Watch, type WatchCredentials } from '../../identity/credential-watch.ts';
import type { Viewer } from '../../identity/viewer.ts';

/** The client is warned this long before its credentials expire. */
const warningMs = 60_000;

/** The socket as far as its credentials concern it. */
interface Owner extends Failing {
  readonly hasEnded: boolean;
  readonly writer: { expiresAt: number };
  readonly operations: ReadonlyMap<string, { checkScope(viewer: Viewer | null): void }>;
  send(text: string): Promise<void>;
  revoke(): void;
}

/** The credentials of one WebSocket. A client can renew them without a new connection. */
export class SocketCredentials {
  viewer: Viewer | null = null;
  readonly #owner: Owner;
  #warning: NodeJS.Timeout | undefined;
  #watch: Watch | undefined;

  constructor(owner: Owner) {
    this.#owner = owner;
  }

  /**
   * Sets the viewer, and revokes the socket when the credentials become invalid. Resolves when the credentials have been checked.
   */
  async set(viewer: Viewer | null, watchCredentials: WatchCredentials): Promise<void> {
    if (this.#owner.hasEnded) return;
    this.stop();
    this.viewer = viewer;
    const expiresAt = viewer?.expiresAt ?? Number.POSITIVE_INFINITY;
    this.#owner.writer.expiresAt = expiresAt;
    const left = expiresAt - Date.now() - warningMs;
    const { fail } = this.#owner;
    // So that the client can renew them in time.
    const payload = { expiresAt: new Date(expiresAt) };
    const warn = contain(() => this.#owner.send(JSON.stringify({ type: 'ping', payload })), fail);
    if (left < maxTimeoutMs) this.#warning = setTimeout(warn, Math.max(0, left));
    for (const operation of this.#owner.operations.values()) operation.checkScope(viewer);
    const revoke = contain(() => this.#owner.revoke(), fail);
    this.#watch = watchCredentials(viewer, revoke);
    await this.#watch.checked;
  }

  stop(): void {
    clearTimeout(this.#warning);
    this.#watch?.stop();
  }
}
