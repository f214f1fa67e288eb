import { hash } from 'node:crypto';
import { emailKeyOf } from '../../data/users.ts';
import { ClientError } from '../../errors.ts';
import { type Charged, FixedWindow } from '../../fixed-window.ts';

const windowSeconds = 15 * 60;
/** Attempts on one account from all addresses together, as a multiple of those of one address. */
const accountFactor = 10;

/**
 * How often passwords are tried and accounts are created: however slowly a password is checked, nobody may try many. The
 * bound of an address holds for each account that it tries, too. That of an account is higher: a stranger at one address
 * cannot use it up, so its owner still signs in from another.
 */
export interface SignInLimit {
  /** A password is about to be checked. @throws ClientError RATE_LIMITED. */
  chargeAttempt(email: string, address: string): void;
  /** The password was right: the account's attempts are kept for wrong ones. The address's are not, for each takes a hash. */
  refundAccount(email: string): void;
  /** An account is about to be created. @throws ClientError RATE_LIMITED. */
  chargeSignUp(address: string): void;
}

/** `attempts`: of an address, in 15 minutes. */
export function createSignInLimit(attempts: number): SignInLimit {
  const addresses = new FixedWindow({ limit: attempts, windowSeconds });
  const accounts = new FixedWindow({ limit: attempts * accountFactor, windowSeconds });
  return {
    chargeAttempt(email, address) {
      // First: what is refused for the address does not count for the account.
      assertWithin(addresses.charge(address));
      assertWithin(accounts.charge(accountKeyOf(email)));
    },
    refundAccount: (email) => accounts.refund(accountKeyOf(email)),
    chargeSignUp: (address) => assertWithin(addresses.charge(address)),
  };
}

function assertWithin({ isOver, resetMs }: Charged): void {
  if (isOver) throw new ClientError('RATE_LIMITED', 'Too many attempts to sign in or up.', { retryAfterMs: resetMs });
}

/** As long for any text: what is kept does not grow with what is sent. */
function accountKeyOf(email: string): string {
  return hash('sha256', emailKeyOf(email));
}
