import { ClientError } from '../../errors.ts';
import type { Log } from '../../log.ts';

/** Who floods a server whose issuer is down does not fill its log. */
const warnEveryMs = 60_000;

/** Tells the operator what clients are not told: why a token is refused, and what fails at the issuer. Never a token. */
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
