import { errors as joseErrors } from 'jose';
import { ClientError } from '../../errors.ts';
import { invalidToken } from '../credential.ts';
import { issuerFailed } from './issuer-requests.ts';

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
