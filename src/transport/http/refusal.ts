import { ClientError, type ErrorCode } from '../../errors.ts';

/** An error that HTTP has a header field for. */
export class HttpRefusal extends ClientError {
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string | undefined, headers: Record<string, string>) {
    super(code, message);
    this.headers = headers;
  }
}

export function methodNotAllowed(...allowed: readonly string[]): HttpRefusal {
  const allow = allowed.join(', ');
  return new HttpRefusal('METHOD_NOT_ALLOWED', `Use ${allow}.`, { allow });
}

/** Too many at once; one that leaves makes room. */
export function noRoom(): HttpRefusal {
  return new HttpRefusal('SERVICE_UNAVAILABLE', undefined, { 'retry-after': '1' });
}
