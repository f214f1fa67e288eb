import { errors as joseErrors } from 'jose';
import { ClientError } from '../../errors.ts';
import type { Log } from '../../log/log.ts';
import { createReportLimit } from '../../log/recent-reports.ts';
import { type Span, withinSpan } from '../../tracing/tracing.ts';
import { invalidToken } from '../viewer.ts';

const timeoutMs = 5_000;
/** The pause after a failure, during which no request is sent to the issuer. */
const pauseMs = 1_000;
/** The log must not fill while the issuer is down. */
const warningIntervalMs = 60_000;

/**
 * Sends requests to the issuer without flooding it while it is down. After a failure, one request per second is sent,
 * and all others fail at once.
 */
export class Issuer {
  readonly #log: Pick<Log, 'debug' | 'warn'>;
  readonly #isDue = createReportLimit({ intervalMs: warningIntervalMs });
  /** By performance.now(); 0 unless the last request has failed. */
  #pausedUntil = 0;

  constructor(log: Pick<Log, 'debug' | 'warn'>) {
    this.#log = log;
  }

  /** Logs details that clients do not receive: why a token is refused, and how the issuer fails. It never logs a token. */
  report(error: unknown): void {
    if (!(error instanceof ClientError) || error.cause === undefined) return;
    const { code, cause } = error;
    if (code === 'UNAUTHENTICATED') this.#log.debug({ reason: cause }, 'access token refused');
    if (code === 'BAD_GATEWAY' && this.#isDue(code))
      this.#log.warn({ err: cause }, 'the issuer of access tokens fails');
  }

  /**
   * Returns the JSON of the response. The request continues the trace of `span`.
   * @throws ClientError BAD_GATEWAY if the issuer fails.
   */
  async send(url: string, init: RequestInit = {}, span?: Span): Promise<Record<string, unknown>> {
    if (!span) return this.#send(url, init);
    const child = startRequest(span, url, init.method);
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(child.context)) headers.set(name, value);
    return withinSpan(child, () => this.#send(url, { ...init, headers }));
  }

  async #send(url: string, init: RequestInit): Promise<Record<string, unknown>> {
    this.#assertAvailable();
    let isUp = false;
    try {
      const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
      const text = await response.text();
      // A refused request (4xx) does not mean that the issuer is down.
      isUp = response.status < 500;
      if (!response.ok) throw new Error(`the issuer responded with the status ${response.status}`);
      const body: unknown = JSON.parse(text);
      if (typeof body !== 'object' || body === null) throw new Error('the response of the issuer is not a JSON object');
      return body as Record<string, unknown>;
    } catch (error) {
      throw issuerFailed(error);
    } finally {
      this.#pausedUntil = isUp ? 0 : performance.now() + pauseMs;
    }
  }

  #assertAvailable(): void {
    const now = performance.now();
    if (now < this.#pausedUntil) throw issuerFailed();
    if (this.#pausedUntil > 0) this.#pausedUntil = now + pauseMs;
  }
}

/** https://opentelemetry.io/docs/specs/semconv/http/http-spans/ */
function startRequest(span: Span, url: string, method = 'GET'): Span {
  const { origin, pathname, hostname } = new URL(url);
  const attributes = { 'http.request.method': method, 'server.address': hostname, 'url.full': origin + pathname };
  return span.startChild(method, 'client', attributes);
}

function issuerFailed(cause?: unknown): ClientError {
  return new ClientError('BAD_GATEWAY', 'The issuer of access tokens does not respond.', {}, { cause });
}

/** The error codes of jose that concern the response to a request for keys, not a token. */
const issuerErrors: ReadonlySet<string> = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID', 'ERR_JWKS_TIMEOUT']);

/** An invalid token is the client's error; any other failure is the issuer's. */
export function toTokenError(error: unknown): ClientError {
  if (error instanceof ClientError) return error;
  if (error instanceof joseErrors.JOSEError && !issuerErrors.has(error.code)) return invalidToken(reasonOf(error));
  return issuerFailed(error);
}

const reasons: Record<string, string> = {
  ERR_JWT_EXPIRED: 'expired',
  ERR_JWKS_NO_MATCHING_KEY: 'unknown key',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'wrong signature',
  ERR_JOSE_ALG_NOT_ALLOWED: 'wrong alg',
};

/** The messages of jose are not used, because they may quote the token. */
function reasonOf(error: joseErrors.JOSEError): string {
  if (!(error instanceof joseErrors.JWTClaimValidationFailed)) return reasons[error.code] ?? 'malformed';
  return `${error.reason === 'missing' ? 'no' : 'wrong'} ${error.claim}`;
}
