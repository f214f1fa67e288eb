import { OperationTypeNode } from 'graphql';
import type { Config } from '../config.ts';
import { clientErrors, type ErrorCode } from '../errors.ts';
import type { Log } from '../log.ts';
import { LimitedLines } from '../recent-reports.ts';
import type { Answer } from './answer.ts';
import { ClientDisconnected } from './cancellation.ts';
import type { Call } from './operation.ts';
import type { OperationReport } from './operation-report.ts';

/** `CANCELLED`: the client left or completed the operation before its answer. */
type Outcome = 'OK' | 'CANCELLED' | ErrorCode;

/** `unknown`: the request was refused before its operation was found. */
type OperationType = OperationTypeNode | 'unknown';

const types: readonly OperationType[] = [...Object.values(OperationTypeNode), 'unknown'];
const outcomes: readonly Outcome[] = ['OK', 'CANCELLED', ...(Object.keys(clientErrors) as ErrorCode[])];
/** The name is text of the client. */
const maxNameLength = 100;

/** Counts the operations of all transports, and logs those that are refused, that fail or that are slow. */
export class OperationReports {
  readonly #log: Pick<Log, 'info' | 'warn'>;
  readonly #slowMs: number;
  readonly #counts = new Map(types.map((type) => [type, new Map(outcomes.map((code) => [code, 0]))]));
  readonly #lines = new LimitedLines();

  /** `slowOperationMs`: 0 logs no slow operations. */
  constructor({ slowOperationMs }: Pick<Config, 'slowOperationMs'>, log: Pick<Log, 'info' | 'warn'>) {
    this.#log = log;
    this.#slowMs = slowOperationMs === 0 ? Number.POSITIVE_INFINITY : slowOperationMs;
  }

  /**
   * Call it when an answer is ready, when a subscription is open, or when the client has left. Only the first call for
   * an operation counts.
   */
  finish(call: Call, answer?: Pick<Answer, 'body'>): void {
    const { report } = call;
    if (!report || report.isFinished) return;
    report.isFinished = true;
    const type = report.compiled?.type ?? 'unknown';
    const code = outcomeOf(call, answer);
    const counts = this.#counts.get(type);
    counts?.set(code, (counts.get(code) ?? 0) + 1);
    const durationMs = performance.now() - report.startedAt;
    const isSlow = durationMs >= this.#slowMs;
    if (isSlow || (code !== 'OK' && code !== 'CANCELLED'))
      this.#write(call, report, { type, code, durationMs, isSlow });
  }

  *counts(): Iterable<{ type: OperationType; code: Outcome; count: number }> {
    for (const [type, byCode] of this.#counts) for (const [code, count] of byCode) yield { type, code, count };
  }

  /** Never contains the document, variables or credentials. */
  #write({ requestId, viewer }: Call, report: OperationReport, { type, code, durationMs, isSlow }: Finished): void {
    const message = isSlow ? 'slow operation' : messageOf(code);
    const omitted = this.#lines.take(`${message} ${code}`);
    if (omitted === undefined) return;
    const fields = {
      requestId,
      operation: shorten(report.compiled?.name ?? report.requestedName),
      type,
      code,
      durationMs: Math.round(durationMs),
      viewer: viewer?.user.id,
      ...(omitted > 0 && { omitted }),
    };
    if (isSlow) this.#log.warn(fields, message);
    else this.#log.info(fields, message);
  }
}

interface Finished {
  type: OperationType;
  code: Outcome;
  durationMs: number;
  isSlow: boolean;
}

/** A commit has an outcome also if its client has left. */
function outcomeOf({ cancellation }: Call, answer: Pick<Answer, 'body'> | undefined): Outcome {
  const code = answer?.body.errors?.[0]?.extensions?.['code'] as ErrorCode | undefined;
  const hasLeft = cancellation.reason instanceof ClientDisconnected;
  if (hasLeft && (code !== undefined || !answer)) return 'CANCELLED';
  return code ?? 'OK';
}

function messageOf(code: Outcome): string {
  const isFault = code !== 'OK' && code !== 'CANCELLED' && clientErrors[code].status >= 500;
  return isFault ? 'operation failed' : 'operation refused';
}

function shorten(name: string | undefined): string | undefined {
  return name !== undefined && name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name;
}
