const key = 'postroom:console';
/** A token is valid for 24 hours. The clock of the browser is compared only with itself. */
const renewAfterMs = 3_600_000;

interface Stored {
  token: string;
  name: string;
  renewAt: number;
}

/**
 * The session of this browser tab, stored in sessionStorage: it survives a reload and is deleted with the tab. Emits
 * `change` with the reason when it starts or ends.
 */
export class ConsoleSession extends EventTarget {
  #current: Stored | null = JSON.parse(sessionStorage.getItem(key) ?? 'null');

  get token(): string | undefined {
    return this.#current?.token;
  }

  get name(): string {
    return this.#current?.name ?? '';
  }

  /** The time until the token must be renewed, in milliseconds. */
  get renewInMs(): number {
    return Math.max(0, (this.#current?.renewAt ?? 0) - Date.now());
  }

  start(token: string, name: string): void {
    this.#store(token, name);
    this.#change();
  }

  /** Replaces the token of the session, if it has not ended meanwhile. */
  renew(token: string): void {
    if (this.#current) this.#store(token, this.name);
  }

  end(reason = ''): void {
    this.#current = null;
    sessionStorage.removeItem(key);
    this.#change(reason);
  }

  #store(token: string, name: string): void {
    this.#current = { token, name, renewAt: Date.now() + renewAfterMs };
    sessionStorage.setItem(key, JSON.stringify(this.#current));
  }

  #change(reason = ''): void {
    this.dispatchEvent(new CustomEvent('change', { detail: reason }));
  }
}
