import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  asRepeatable,
  CommitOutcomeUnknown,
  type Database,
  DatabaseUnavailable,
} from '../../data/database/database.ts';
import { type AttemptWindow, chargeAttempt, refundAttempt } from '../../data/domain/sign-in-attempts.ts';
import { emailKeyOf } from '../../data/domain/users.ts';
import { ClientError } from '../../errors.ts';

const windowMs = 15 * 60_000;
/** The limit of attempts on one account from all addresses, as a multiple of the limit of one address. */
const accountFactor = 10;
const maxBlocked = 100_000;

export type SignInLimit = ReturnType<typeof createSignInLimit>;

/**
 * Limits how often passwords are tried, accounts are created and e-mail addresses are changed. `attempts`, the limit of an
 * address in 15 minutes, counts its attempts on all accounts together. The limit of an account is higher, so that a
 * stranger at one address cannot use it up, and the owner can still sign in from another address. The attempts are counted
 * in the database, so that all nodes share them; each takes a small transaction, which costs little next to the hash of the
 * password.
 */
export function createSignInLimit({ transaction }: Pick<Database, 'transaction'>, attempts: number) {
  /**
   * The addresses that are over their limit, so that a flood of refused attempts writes nothing. Accounts need no such
   * cache: each attempt on an account uses up an attempt of its address.
   */
  const blocked = new LRUCache<string, true>({ maxSize: maxBlocked, sizeCalculation: () => 1 });
  /** @throws ClientError RATE_LIMITED. */
  function assertNotBlocked(addressKey: string): void {
    const left = blocked.get(addressKey) ? blocked.getRemainingTTL(addressKey) : 0;
    if (left > 0) throw tooManyAttempts(Math.max(1, Math.round(left)));
  }
  /** Charges an address and then, if the address is not over its limit, an account. */
  async function charge(address: string, email?: string): Promise<void> {
    const addressKey = keyOf('address', address);
    assertNotBlocked(addressKey);
    // A refused attempt is counted, too: the error is thrown after the commit.
    const counting = transaction(async (db) => {
      // Of many attempts that wait for their turn, the first that is refused refuses the others without a write.
      assertNotBlocked(addressKey);
      const ofAddress = await chargeAttempt(db, addressKey, windowMs);
      const isCounted = email !== undefined && ofAddress.attempts <= attempts;
      return { ofAddress, ofAccount: isCounted ? await chargeAttempt(db, accountKeyOf(email), windowMs) : undefined };
    });
    const { ofAddress, ofAccount } = await asRepeatable(counting);
    if (ofAddress.attempts > attempts) {
      const ttl = remainingMs(ofAddress);
      blocked.set(addressKey, true, { ttl });
      throw tooManyAttempts(ttl);
    }
    if (ofAccount && ofAccount.attempts > attempts * accountFactor) throw tooManyAttempts(remainingMs(ofAccount));
  }
  return {
    /** A password is about to be checked. @throws ClientError RATE_LIMITED, DatabaseUnavailable. */
    chargeAttempt: (email: string, address: string) => charge(address, email),
    /**
     * Refunds the account's attempt after a right password: only wrong passwords count for an account. The address's
     * attempt is not refunded, because each attempt costs a hash.
     */
    async refundAccount(email: string): Promise<void> {
      try {
        await transaction((db) => refundAttempt(db, accountKeyOf(email)));
      } catch (error) {
        // The password was right; a refund that is lost must not refuse it.
        if (!(error instanceof DatabaseUnavailable || error instanceof CommitOutcomeUnknown)) throw error;
      }
    },
    /**
     * An account is about to be created, or to get another e-mail address: the answer tells whether the e-mail address
     * is taken. Or a sign-in link is tried. @throws ClientError RATE_LIMITED, DatabaseUnavailable.
     */
    chargeAddress: (address: string) => charge(address),
  };
}

function remainingMs({ endsAt }: AttemptWindow): number {
  return Math.max(1, endsAt - Date.now());
}

function tooManyAttempts(retryAfterMs: number): ClientError {
  const reason = 'Too many attempts to sign in, to sign up or to change an e-mail address.';
  return new ClientError('RATE_LIMITED', `${reason} All users of a network address share a limit.`, { retryAfterMs });
}

function accountKeyOf(email: string): string {
  return keyOf('account', emailKeyOf(email));
}

/**
 * A hash, so that the database stores neither e-mails nor addresses of attempts, and a key has the same length for any
 * text. The prefixes keep the two apart.
 */
function keyOf(kind: 'address' | 'account', text: string): string {
  return hash('sha256', `${kind} ${text}`);
}
