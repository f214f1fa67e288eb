import { isObject } from '../common/is-object.ts';

/* https://www.w3.org/TR/trace-context/ */

/** A position in a trace, with the names and the form of the headers of W3C Trace Context. */
export interface TraceContext {
  traceparent: string;
  tracestate?: string;
}

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
