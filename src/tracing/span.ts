import type { TracingSettings } from '../config/tracing-settings.ts';
import { ClientError } from '../errors.ts';
import type { TraceContext } from './trace-context.ts';

export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';

/** Never a value that a client sends in a variable, and no credentials. */
export type SpanAttributes = Record<string, string | number | boolean>;

/** A span that is recorded. Where nothing is recorded, there is no span. */
export interface Span {
  /** For the parts of the trace in other processes. */
  readonly context: TraceContext;
  startChild(name: string, kind: SpanKind, attributes?: SpanAttributes): Span;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Only the first call counts. `errorType`: a code, or the name of an error; it makes the span a failed one. */
  end(errorType?: string): void;
}

interface SpanStart {
  name: string;
  kind: SpanKind;
  /** A context that is malformed counts as absent. */
  parent: TraceContext | undefined;
  attributes?: SpanAttributes;
}

/** Records the traces of this process. */
export interface Tracing {
  readonly settings: Pick<TracingSettings, 'hasDocuments' | 'followsClients'>;
  /** Undefined if the trace is not sampled. */
  start(start: SpanStart): Span | undefined;
  /** Sends the last spans, for two seconds at most. */
  close(): Promise<void>;
}

/** Runs work inside a span, which ends with it. */
export async function withinSpan<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    span.end();
    return result;
  } catch (error) {
    span.end(errorTypeOf(error));
    throw error;
  }
}

/** The code of an error that a client may see, or the name of its class. */
export function errorTypeOf(error: unknown): string {
  if (error instanceof ClientError) return error.code;
  return error instanceof Error ? error.name : 'Error';
}
