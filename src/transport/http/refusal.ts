import { ClientError, type ErrorCode } from '../../errors.ts';

/** An error that is answered with additional header fields. */
export class HttpRefusal extends ClientError {
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string | undefined, headers: Record<string, string>) {
    super(code, message);
    this.headers = headers;
  }
}

/** The `Retry-After` of every answer with the status 503, in seconds. */
export const retryAfter503 = '1';

export function methodNotAllowed(...allowed: readonly string[]): HttpRefusal {
  const allow = allowed.join(', ');
  return new HttpRefusal('METHOD_NOT_ALLOWED', `Use ${allow}.`, { allow });
}
