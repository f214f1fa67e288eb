import { isObject } from '../common/is-object.ts';
import type { TracingSettings } from '../config/tracing-settings.ts';
import { ClientError } from '../errors.ts';
import type { Log } from '../log/log.ts';
import type { Span, TraceContext, Tracing } from './open-tracing.ts';

export type { Span, SpanAttributes, TraceContext, Tracing } from './open-tracing.ts';

/** `node`: the name of this node. Undefined if no traces are recorded: the SDK of OpenTelemetry is then not loaded. */
export async function loadTracing(
  settings: TracingSettings | undefined,
  log: Pick<Log, 'warn'>,
  node: string,
): Promise<Tracing | undefined> {
  if (!settings) return undefined;
  const { openTracing } = await import('./open-tracing.ts');
  return openTracing(settings, log, node);
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

/* https://www.w3.org/TR/trace-context/ */

/** The form of version 00 has 55 characters; later versions may add to it. */
const maxParentLength = 200;
/** Longer lists need not be passed on. */
const maxStateLength = 512;

/**
 * The context in headers, in the extensions of a message or in JSON; undefined without one. Its form is checked where
 * it is used.
 */
export function readTraceContext(carrier: unknown): TraceContext | undefined {
  if (!isObject(carrier)) return undefined;
  const { traceparent, tracestate } = carrier;
  if (typeof traceparent !== 'string' || traceparent.length > maxParentLength) return undefined;
  const hasState = typeof tracestate === 'string' && tracestate !== '' && tracestate.length <= maxStateLength;
  return hasState ? { traceparent, tracestate } : { traceparent };
}

/** The id of the trace, for the log. */
export function traceIdOf({ traceparent }: TraceContext): string {
  return traceparent.slice(3, 35);
}
