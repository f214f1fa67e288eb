import { type ASTNode, Kind, OperationTypeNode, print, visit } from 'graphql';
import { type Cancellation, ClientDisconnected } from '../common/cancellation.ts';
import type { Config } from '../config/config.ts';
import { clientErrors, type ErrorCode } from '../errors.ts';
import { RecentLoad } from '../live/inventory/load.ts';
import { LatestRefusals } from '../live/inventory/refusals.ts';
import type { Log } from '../log/log.ts';
import { createLineLimit } from '../log/recent-reports.ts';
import { readTraceContext, type Span, type SpanAttributes, type Tracing, traceIdOf } from '../tracing/tracing.ts';
import type { Answer } from './answer.ts';
import type { CompiledOperation } from './documents/documents.ts';
import type { Caller, Rate } from './limits/rate.ts';

/** `CANCELLED`: the client left or completed the operation before its answer. */
type Outcome = 'OK' | 'CANCELLED' | ErrorCode;

/** `unknown`: the request was refused before its operation was found. */
type OperationType = OperationTypeNode | 'unknown';

const types: readonly OperationType[] = [...Object.values(OperationTypeNode), 'unknown'];
const outcomes: readonly Outcome[] = ['OK', 'CANCELLED', ...(Object.keys(clientErrors) as ErrorCode[])];
/** The name is text of the client. */
const maxNameLength = 100;

/** What a report about a request needs to know, apart from its call. */
export interface OperationReport {
  /** By `performance.now()`. Set again when the request has arrived, so that the time of a slow body does not count. */
  startedAt: number;
  compiled: CompiledOperation | undefined;
  /** The name of the operation in the request. */
  requestedName: string | undefined;
  /** The coordinates of the deprecated elements that the operation uses; undefined if it was refused before it ran. */
  deprecated: ReadonlySet<string> | undefined;
  isFinished: boolean;
  /** Undefined if it is not recorded, or has ended: a subscription, which may last for days, does not hold it. */
  span: Span | undefined;
}

/** One request to the engine: its caller, and the facts that its answer depends on. */
export interface Call extends Caller {
  requestId: string;
  /** Cancelled when the client has left, or the operation has taken too long. */
  cancellation: Cancellation;
  /** Undefined if the request is for another path. */
  report?: OperationReport | undefined;
  /** The caller's remaining rate, as soon as the operation is charged. */
  rate?: Rate | undefined;
}

/** Counts the operations of all transports, traces them, and logs those that are refused, that fail or that are slow. */
export class OperationReports {
  readonly #log: Pick<Log, 'info' | 'warn'>;
  readonly #slowMs: number;
  readonly #tracing: Tracing | undefined;
  readonly #counts = new Map(types.map((type) => [type, new Map(outcomes.map((code) => [code, 0]))]));
  /** The time of the latest operation with each error, in milliseconds since 1970. */
  readonly #lastErrors = new Map<ErrorCode, number>();
  /** The numbers of operations that used each deprecated element, by its coordinate. */
  readonly deprecatedUses = new Map<string, number>();
  /** By user and by address. */
  readonly load = new RecentLoad();
  readonly refusals = new LatestRefusals();
  readonly #takeLine = createLineLimit();

  /** `slowOperationMs`: 0 logs no slow operations. */
  constructor(
    { slowOperationMs }: Pick<Config, 'slowOperationMs'>,
    log: Pick<Log, 'info' | 'warn'>,
    tracing?: Tracing,
  ) {
    this.#log = log;
    this.#tracing = tracing;
    this.#slowMs = slowOperationMs === 0 ? Number.POSITIVE_INFINITY : slowOperationMs;
  }

  /** `carrier`: it may have the trace of the client, as the headers of a request. */
  start(requestId: string, carrier: unknown, startedAt = performance.now()): OperationReport {
    const parent = this.#tracing?.settings.followsClients ? readTraceContext(carrier) : undefined;
    const span = this.#tracing?.start({
      name: 'GraphQL Operation',
      kind: 'server',
      parent,
      attributes: { 'postroom.request_id': requestId },
    });
    return {
      startedAt,
      compiled: undefined,
      requestedName: undefined,
      deprecated: undefined,
      isFinished: false,
      span,
    };
  }

  /**
   * Call it when an answer is ready, when a subscription is open, or when the client has left. Only the first call for
   * an operation counts.
   */
  finish(call: Call, answer?: Pick<Answer, 'body'>): void {
    const { report } = call;
    if (!report || report.isFinished) return;
    report.isFinished = true;
    const code = outcomeOf(call, answer);
    const counts = this.#counts.get(typeOf(report));
    counts?.set(code, (counts.get(code) ?? 0) + 1);
    if (isError(code)) this.#lastErrors.set(code, Date.now());
    this.load.count(call.viewer?.user.id ?? null, call.address, { operations: 1, refusals: Number(isError(code)) });
    for (const each of report.deprecated ?? []) this.deprecatedUses.set(each, (this.deprecatedUses.get(each) ?? 0) + 1);
    this.#write(call, report, code, answer?.body.errors?.[0]?.message);
    this.#endSpan(report, code);
  }

  *counts(): Iterable<{ type: OperationType; code: Outcome; count: number }> {
    for (const [type, byCode] of this.#counts) for (const [code, count] of byCode) yield { type, code, count };
  }

  /** The errors that occurred since the start of the process, over all types. */
  errors(): { code: ErrorCode; count: number; lastAt: number }[] {
    return Array.from(this.#lastErrors, ([code, lastAt]) => {
      const count = types.reduce((sum, type) => sum + (this.#counts.get(type)?.get(code) ?? 0), 0);
      return { code, count, lastAt };
    });
  }

  /** https://opentelemetry.io/docs/specs/semconv/graphql/graphql-spans/ */
  #endSpan(report: OperationReport, code: Outcome): void {
    const { span, compiled } = report;
    if (!span) return;
    report.span = undefined;
    if (compiled) span.rename(compiled.type);
    span.set(this.#describe(report));
    span.end(isError(code) ? code : undefined);
  }

  #describe({ compiled, requestedName }: OperationReport): SpanAttributes {
    const name = shorten(compiled?.name ?? requestedName);
    const hasDocument = this.#tracing?.settings.hasDocuments;
    return {
      ...(compiled && { 'graphql.operation.type': compiled.type }),
      ...(name !== undefined && { 'graphql.operation.name': name }),
      ...(compiled && hasDocument && { 'graphql.document': printWithoutValues(compiled.document) }),
    };
  }

  /** Never contains values of the document or of variables, nor credentials. */
  #write(call: Call, report: OperationReport, code: Outcome, error: string | undefined): void {
    const { requestId, viewer, address } = call;
    const durationMs = performance.now() - report.startedAt;
    const isSlow = durationMs >= this.#slowMs;
    if (!isSlow && !isError(code)) return;
    const message = isSlow ? 'slow operation' : messageOf(code);
    const omitted = this.#takeLine(`${message} ${code}`);
    if (omitted === undefined) return;
    const fields = {
      requestId,
      traceId: report.span && traceIdOf(report.span.context),
      operation: shorten(report.compiled?.name ?? report.requestedName),
      type: typeOf(report),
      code,
      reason: error?.replace(quotedValue, '…'),
      durationMs: Math.round(durationMs),
      viewer: viewer?.user.id,
      ...(omitted > 0 && { omitted }),
    };
    const { operation = null, reason = '', viewer: viewerId = null } = fields;
    if (isError(code)) this.refusals.add({ time: Date.now(), requestId, operation, code, reason, viewerId, address });
    if (isSlow) this.#log.warn(fields, message);
    else this.#log.info(fields, message);
  }
}

function typeOf({ compiled }: OperationReport): OperationType {
  return compiled?.type ?? 'unknown';
}

function isError(code: Outcome): code is ErrorCode {
  return code !== 'OK' && code !== 'CANCELLED';
}

/** A commit has an outcome also if its client has left. */
function outcomeOf({ cancellation }: Call, answer: Pick<Answer, 'body'> | undefined): Outcome {
  const code = answer?.body.errors?.[0]?.extensions?.['code'] as ErrorCode | undefined;
  const hasLeft = cancellation.reason instanceof ClientDisconnected;
  if (hasLeft && (code !== undefined || !answer)) return 'CANCELLED';
  return code ?? 'OK';
}

function messageOf(code: Outcome): string {
  const isFault = isError(code) && clientErrors[code].status >= 500;
  return isFault ? 'operation failed' : 'operation refused';
}

function shorten(name: string | undefined): string | undefined {
  return name !== undefined && name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name;
}

/** The text of a document, without the values that it contains itself: they may be credentials. */
function printWithoutValues(document: ASTNode): string {
  return print(
    visit(document, {
      [Kind.STRING]: (node) => ({ ...node, value: '', block: false }),
      [Kind.INT]: (node) => ({ ...node, value: '0' }),
      [Kind.FLOAT]: (node) => ({ ...node, value: '0' }),
    }),
  );
}

/** The value of a document or of its variables that a message of graphql quotes: it may be a password. It may have been cut off. */
const quotedValue =
  /(?<=(?<!invalid |default )value: |found: |(?:found|unexpected) [a-z]+ |^syntax error: invalid [^:]*: ).+|(?<=\bvalue )"(?:.*"(?= does not exist in )|.*)/is;
