import { ClientError } from '../../errors.ts';

const timeoutMs = 5_000;
/** The pause after a failure, during which no request is sent to the issuer. */
const restMs = 1_000;
const maxUnderWay = 100;

/**
 * Sends requests to the issuer without flooding it while it is down. After a failure, one request per second is sent,
 * and all others fail at once.
 */
export class IssuerRequests {
  #hasFailed = false;
  #restsUntil = 0;
  #underWay = 0;

  /**
   * Returns the JSON of the response.
   * @throws ClientError BAD_GATEWAY if the issuer fails, SERVICE_UNAVAILABLE if too many requests wait for it.
   */
  async ask(url: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
    this.#assertAskable();
    this.#underWay += 1;
    let isWell = false;
    try {
      const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
      const text = await response.text();
      // A refused request (4xx) does not mean that the issuer is down.
      isWell = response.status < 500;
      if (!response.ok) throw new Error(`it answered with ${response.status}`);
      const answer: unknown = JSON.parse(text);
      if (typeof answer !== 'object' || answer === null) throw new Error('it answered with no object');
      return answer as Record<string, unknown>;
    } catch (error) {
      throw doesNotAnswer(error);
    } finally {
      this.#underWay -= 1;
      this.#hasFailed = !isWell;
      this.#restsUntil = isWell ? 0 : performance.now() + restMs;
    }
  }

  #assertAskable(): void {
    const now = performance.now();
    if (now < this.#restsUntil) throw doesNotAnswer();
    if (this.#underWay >= maxUnderWay) throw new ClientError('SERVICE_UNAVAILABLE');
    if (this.#hasFailed) this.#restsUntil = now + restMs;
  }
}

export function doesNotAnswer(cause?: unknown): ClientError {
  return new ClientError('BAD_GATEWAY', 'The issuer of access tokens does not answer.', {}, { cause });
}
