interface Stored {
  token: string;
  name?: string | undefined;
}

/**
 * The session of a page in this browser tab: a token, and the name of its user if it is known. It is stored in
 * sessionStorage under `key`: it survives a reload and is deleted with the tab. Emits `change`, whose `detail` is the reason
 * if the session has ended without a request of the user.
 */
export class PageSession extends EventTarget {
  readonly #key: string;
  #current: Stored | null;

  constructor(key: string) {
    super();
    this.#key = key;
    this.#current = JSON.parse(sessionStorage.getItem(key) ?? 'null');
  }

  get token(): string | undefined {
    return this.#current?.token;
  }

  get name(): string {
    return this.#current?.name ?? '';
  }

  start(token: string, name: string | undefined): void {
    this.#store({ token, name });
    this.#change();
  }

  /** Replaces a token that was renewed, unless the user has signed out or in meanwhile, perhaps as somebody else. */
  renew(to: string, from: string | undefined): void {
    if (from !== undefined && from === this.token) this.#store({ token: to, name: this.name });
  }

  end(reason = ''): void {
    this.#current = null;
    sessionStorage.removeItem(this.#key);
    this.#change(reason);
  }

  /** Ends the session if it still has this token, which the server has refused. */
  refuse(token: string): void {
    if (token === this.token) this.end('Your session has expired or was revoked. Sign in again.');
  }

  #store(session: Stored): void {
    this.#current = session;
    sessionStorage.setItem(this.#key, JSON.stringify(session));
  }

  #change(reason = ''): void {
    this.dispatchEvent(new CustomEvent('change', { detail: reason }));
  }
}
