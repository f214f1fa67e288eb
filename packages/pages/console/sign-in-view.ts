import { failureOf } from '../../client/src/failure.ts';
import type { PageSession } from '../session.ts';
import { type ConsoleClient, notAdmin } from './client.ts';
import { find } from './elements.ts';
import { signIn } from './operations.ts';

/** The form that starts a session. */
export class SignInView {
  readonly #client: ConsoleClient;
  readonly #session: PageSession;
  readonly #form = find('sign-in', HTMLFormElement);
  readonly #email = find('email', HTMLInputElement);
  readonly #password = find('password', HTMLInputElement);
  readonly #button = find('sign-in-button', HTMLButtonElement);
  readonly #alert = find('sign-in-alert', HTMLElement);

  constructor(client: ConsoleClient, session: PageSession) {
    this.#client = client;
    this.#session = session;
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#signIn();
    });
  }

  /** Shows the form, and why the last session ended. */
  show(reason: string): void {
    this.#form.hidden = false;
    this.#alert.textContent = reason;
    this.#email.focus();
  }

  hide(): void {
    this.#form.hidden = true;
  }

  async #signIn(): Promise<void> {
    this.#button.disabled = true;
    this.#alert.textContent = '';
    try {
      const input = { email: this.#email.value, password: this.#password.value };
      const { accessToken, user } = (await this.#client.post(signIn, { input })).signIn;
      this.#password.value = '';
      if (user.role === 'ADMIN') this.#session.start(accessToken, user.name);
      else this.#alert.textContent = notAdmin(user.name);
    } catch (error) {
      const { code, message } = failureOf(error);
      this.#alert.textContent = code === 'NO_ANSWER' ? 'The server cannot be reached.' : message;
    } finally {
      this.#button.disabled = false;
    }
  }
}
