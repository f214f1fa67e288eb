import { errors as joseErrors } from 'jose';
import { ClientError } from '../../errors.ts';
import { doesNotAnswer } from './issuer-requests.ts';

/** `reason` is for the operator only; it must not contain any part of the token. */
export function badToken(reason: string): ClientError {
  return new ClientError('UNAUTHENTICATED', 'The access token is not valid, or has ended.', {}, { cause: reason });
}

/** The error codes of jose that concern the response to a request for keys, not a token. */
const issuerFaults: ReadonlySet<string> = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID', 'ERR_JWKS_TIMEOUT']);

/** A bad token is the client's fault; any other failure is the issuer's. */
export function translate(error: unknown): ClientError {
  if (error instanceof ClientError) return error;
  if (error instanceof joseErrors.JOSEError && !issuerFaults.has(error.code)) return badToken(reasonOf(error));
  return doesNotAnswer(error);
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
