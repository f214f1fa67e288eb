import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { emailKeyOf } from '../data/users.ts';
import { ClientError } from '../errors.ts';

const windowSeconds = 15 * 60;

/** Charges an attempt to the account and to the address. @throws ClientError RATE_LIMITED. */
export type SignInLimit = (email: string, address: string) => Promise<void>;

/** However slowly a password is checked, nobody may try many. */
export function createSignInLimit(attempts: number): SignInLimit {
  const limiter = new RateLimiterMemory({ points: attempts, duration: windowSeconds });
  return async (email, address) => {
    try {
      await limiter.consume(`account ${emailKeyOf(email)}`);
      await limiter.consume(`address ${address}`);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      throw new ClientError('RATE_LIMITED', 'Too many attempts to sign in.', { retryAfterMs: error.msBeforeNext });
    }
  };
}
