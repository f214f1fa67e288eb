/** One request, message or line. */
export interface Step {
  /**
   * `init`: the client waits for the acknowledgement. `binary` and `frame`, a frame as it is on the wire, and `bytes`, a
   * request as it is on the wire, are in latin1.
   */
  kind: 'init' | 'text' | 'binary' | 'frame' | 'request' | 'bytes' | 'line';
  text: string;
  /** Valid by construction: it must be answered, and not with an error of the client. A message has this id. */
  validId?: string | undefined;
}

/** The requests of one connection, the messages of one WebSocket, or the lines of one import. */
export interface Case {
  transport: 'http' | 'websocket' | 'import';
  /** The part that `--only` selects. */
  name: string;
  steps: readonly Step[];
}

/** Error codes that no input may cause. */
const ourFaults = new Set(['INTERNAL_SERVER_ERROR', 'SERVICE_UNAVAILABLE', 'BAD_GATEWAY']);
/** Error codes that a request which is valid by construction must not receive. */
const notOfValid = new Set([
  'BAD_REQUEST',
  'INVALID_REQUEST',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_NOT_FOUND',
  'VARIABLES_INVALID',
]);

/** What a case led to. */
export class Outcome {
  readonly counted: string[] = [];
  readonly faults: string[] = [];

  count(what: string): void {
    this.counted.push(what);
  }

  fault(what: string): void {
    this.faults.push(what);
  }

  /** Records the error codes of a response. */
  recordErrors(errors: unknown, isValid: boolean): void {
    if (!Array.isArray(errors)) return;
    for (const { extensions } of errors) {
      const code = String(extensions?.code);
      if (ourFaults.has(code)) this.fault(code);
      else if (isValid && notOfValid.has(code)) this.fault(`a valid operation got ${code}`);
      else this.count(code);
    }
  }
}

/** Resolves with the result of `promise`, or with `late` after `ms` milliseconds. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | 'late'> {
  const late = Promise.withResolvers<'late'>();
  const timer = setTimeout(late.resolve, ms, 'late');
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
