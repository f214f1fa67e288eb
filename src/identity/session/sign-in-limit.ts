import { hash } from 'node:crypto';
import { emailKeyOf } from '../../data/users.ts';
import { ClientError } from '../../errors.ts';
import { type Charged, FixedWindow } from '../../fixed-window.ts';

const windowSeconds = 15 * 60;
/** The limit of attempts on one account from all addresses, as a multiple of the limit of one address. */
const accountFactor = 10;

/**
 * Limits how often passwords are tried and accounts are created. The limit of an address counts its attempts on all
 * accounts together. The limit of an account is higher, so that a stranger at one address cannot use it up, and the
 * owner can still sign in from another address.
 */
export interface SignInLimit {
  /** A password is about to be checked. @throws ClientError RATE_LIMITED. */
  chargeAttempt(email: string, address: string): void;
  /**
   * Refunds the account's attempt after a right password: only wrong passwords count for an account. The address's
   * attempt is not refunded, because each attempt costs a hash.
   */
  refundAccount(email: string): void;
  /** An account is about to be created. @throws ClientError RATE_LIMITED. */
  chargeSignUp(address: string): void;
}

/** `attempts` is the limit of an address in 15 minutes. */
export function createSignInLimit(attempts: number): SignInLimit {
  const addresses = new FixedWindow({ limit: attempts, windowSeconds });
  const accounts = new FixedWindow({ limit: attempts * accountFactor, windowSeconds });
  return {
    chargeAttempt(email, address) {
      // The address is charged first, so that an attempt refused for the address does not count for the account.
      assertWithin(addresses.charge(address));
      assertWithin(accounts.charge(accountKeyOf(email)));
    },
    refundAccount: (email) => accounts.refund(accountKeyOf(email)),
    chargeSignUp: (address) => assertWithin(addresses.charge(address)),
  };
}

function assertWithin({ isOver, resetMs }: Charged): void {
  if (isOver) throw new ClientError('RATE_LIMITED', 'Too many sign-in or sign-up attempts.', { retryAfterMs: resetMs });
}

/** The hash has the same length for any text, so that the memory used does not grow with the length of the input. */
function accountKeyOf(email: string): string {
  return hash('sha256', emailKeyOf(email));
}
