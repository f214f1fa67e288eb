const sessionKey = 'postroom:session';

/**
 * The session of this browser tab: a token, and the name of its user, which is missing if it could not be read. It is
 * stored in sessionStorage, so it survives a reload and is deleted with the browser tab. Emits `change`, and `signOut`
 * if the user signs out.
 */
export class Session extends EventTarget {
  #current = JSON.parse(sessionStorage.getItem(sessionKey));

  get token() {
    return this.#current?.token;
  }

  get name() {
    return this.#current?.name;
  }

  start(token, name) {
    sessionStorage.setItem(sessionKey, JSON.stringify({ token, name }));
    this.#change({ token, name });
  }

  signOut() {
    this.#end();
    this.dispatchEvent(new Event('signOut'));
  }

  /** Ends the session if it still has this token, which the server refused. */
  refuse(token) {
    if (token === this.token) this.#end('Your session has expired or was revoked. Sign in again.');
  }

  #end(reason) {
    sessionStorage.removeItem(sessionKey);
    this.#change(null, reason);
  }

  #change(session, reason = '') {
    this.#current = session;
    this.dispatchEvent(new CustomEvent('change', { detail: reason }));
  }
}
