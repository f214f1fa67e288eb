import { ClientError } from '../../errors.ts';

const timeoutMs = 5_000;
/** So long nobody asks an issuer that has failed. */
const restMs = 1_000;
const maxUnderWay = 100;

/**
 * What is asked of an issuer that may be down: the users of one that fails cause it no storm. Once it has failed, one asks
 * again each second, and the others are told at once.
 */
export class IssuerRequests {
  #hasFailed = false;
  #restsUntil = 0;
  #underWay = 0;

  /** The JSON of an answer. @throws ClientError BAD_GATEWAY where it fails, SERVICE_UNAVAILABLE where too many wait for it. */
  async ask(url: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
    this.#assertAskable();
    this.#underWay += 1;
    let isWell = false;
    try {
      const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
      const text = await response.text();
      // What it thinks of a request says nothing of its health.
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
