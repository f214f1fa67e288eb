import { ClientError } from '../../errors.ts';
import type { Log } from '../../log.ts';

/** A flood of requests while the issuer is down must not fill the log. */
const warnEveryMs = 60_000;

/**
 * Logs details that clients do not receive: why a token is refused, and how the issuer fails. It never logs a token.
 */
export class IssuerLog {
  readonly #log: Pick<Log, 'debug' | 'warn'>;
  #quietUntil = 0;

  constructor(log: Pick<Log, 'debug' | 'warn'>) {
    this.#log = log;
  }

  note(error: unknown): void {
    if (!(error instanceof ClientError) || error.cause === undefined) return;
    if (error.code === 'UNAUTHENTICATED') this.#log.debug({ reason: error.cause }, 'access token refused');
    if (error.code === 'BAD_GATEWAY') this.#warn(error.cause);
  }

  #warn(cause: unknown): void {
    const now = performance.now();
    if (now < this.#quietUntil) return;
    this.#quietUntil = now + warnEveryMs;
    this.#log.warn({ err: cause }, 'the issuer of access tokens fails');
  }
}
