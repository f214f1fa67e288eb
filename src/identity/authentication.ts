import { ClientError } from '../errors.ts';
import type { Audit } from './audit.ts';
import { type CredentialParts, findViewer } from './credentials.ts';
import type { Viewer } from './viewer.ts';
import type { ViewerCache } from './viewer-cache.ts';

/** Finds the viewer of an `Authorization` header; null without a header. @throws ClientError UNAUTHENTICATED. */
export type Authenticate = (authorization: string | undefined, address: string) => Promise<Viewer | null>;

export interface AuthenticationParts extends CredentialParts {
  cache: ViewerCache;
  audit: Audit;
  /** Charges refused credentials to the client's address. It may throw, and the error then replaces the refusal. */
  chargeRefused: (address: string) => void;
}

/** Refused credentials are charged to the client's address, and audited within the rate of the address. */
export function createAuthentication(parts: AuthenticationParts): Authenticate {
  return async (authorization, address) => {
    if (authorization === undefined) return null;
    try {
      return await parts.cache.find(authorization, () => findViewer(parts, authorization));
    } catch (error) {
      if (error instanceof ClientError && error.code === 'UNAUTHENTICATED') {
        parts.chargeRefused(address);
        parts.audit({ event: 'credentialsRefused', reason: error.message, address });
      }
      throw error;
    }
  };
}
