import type { Span } from '../tracing/span.ts';
import type { CompiledOperation } from './documents/compiled-operation.ts';

/** What a report about a request needs to know, apart from its call. */
export class OperationReport {
  /** By `performance.now()`. Set again when the request has arrived, so that the time of a slow body does not count. */
  startedAt: number;
  compiled: CompiledOperation | undefined;
  /** The name of the operation in the request. */
  requestedName: string | undefined;
  /** The coordinates of the deprecated elements that the operation uses; undefined if it was refused before it ran. */
  deprecated: ReadonlySet<string> | undefined;
  isFinished = false;
  /** Undefined if it is not recorded, or has ended: a subscription, which may last for days, does not hold it. */
  span: Span | undefined;

  constructor(startedAt = performance.now(), span?: Span) {
    this.startedAt = startedAt;
    this.span = span;
  }
}
