import { ClientError } from '../../errors.ts';
import type { Log } from '../../log.ts';

/** The log must not fill while the issuer is down. */
const warningIntervalMs = 60_000;

/**
 * Logs details that clients do not receive: why a token is refused, and how the issuer fails. It never logs a token.
 */
export class IssuerLog {
  readonly #log: Pick<Log, 'debug' | 'warn'>;
  #mutedUntil = 0;

  constructor(log: Pick<Log, 'debug' | 'warn'>) {
    this.#log = log;
  }

  record(error: unknown): void {
    if (!(error instanceof ClientError) || error.cause === undefined) return;
    if (error.code === 'UNAUTHENTICATED') this.#log.debug({ reason: error.cause }, 'access token refused');
    if (error.code === 'BAD_GATEWAY') this.#warn(error.cause);
  }

  #warn(cause: unknown): void {
    const now = performance.now();
    if (now < this.#mutedUntil) return;
    this.#mutedUntil = now + warningIntervalMs;
    this.#log.warn({ err: cause }, 'the issuer of access tokens fails');
  }
}
