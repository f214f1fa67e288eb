import { hash } from 'node:crypto';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { emailKeyOf } from '../data/users.ts';
import { ClientError } from '../errors.ts';

const windowSeconds = 15 * 60;

/** Charges an attempt to the address and to the account. @throws ClientError RATE_LIMITED. */
export type SignInLimit = (email: string, address: string) => Promise<void>;

/** However slowly a password is checked, nobody may try many. */
export function createSignInLimit(attempts: number): SignInLimit {
  const limiter = new RateLimiterMemory({ points: attempts, duration: windowSeconds });
  return async (email, address) => {
    try {
      await limiter.consume(`address ${address}`);
      // As long for any text: what is kept does not grow with what is sent.
      await limiter.consume(`account ${hash('sha256', emailKeyOf(email))}`);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      throw new ClientError('RATE_LIMITED', 'Too many attempts to sign in.', { retryAfterMs: error.msBeforeNext });
    }
  };
}
