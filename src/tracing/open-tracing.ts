import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  type Span as OpenTelemetrySpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { reasonOf } from '../common/reason-of.ts';
import type { TracingSettings } from '../config/tracing-settings.ts';
import type { Log } from '../log/log.ts';
import { createReportLimit } from '../log/recent-reports.ts';

/* The only module that knows OpenTelemetry. It is loaded only if traces are sent. */

/** A position in a trace, with the names and the form of the headers of W3C Trace Context. */
export interface TraceContext {
  traceparent: string;
  tracestate?: string;
}

/** Never a value that a client sends in a variable, and no credentials. */
export type SpanAttributes = Record<string, string | number | boolean>;

interface SpanStart {
  name: string;
  kind: keyof typeof kinds;
  /** A context that is malformed counts as absent. */
  parent: TraceContext | undefined;
  attributes?: SpanAttributes;
}

/** Records the traces of this process. */
export type Tracing = ReturnType<typeof openTracing>;

/** In characters, so that the spans that wait to be sent are bounded in bytes. */
const maxAttributeLength = 4_096;
/** The spans that wait; beyond it, spans are dropped. */
const maxQueueSize = 2_048;
/** The JSON of a batch is created in one turn of the event loop. */
const maxExportBatchSize = 256;
const closeTimeoutMs = 2_000;
/** A malformed context is ignored: the span then begins a trace. */
const propagator = new W3CTraceContextPropagator();

/** `node`: the name of this node. */
export function openTracing(settings: TracingSettings, log: Pick<Log, 'warn'>, node: string) {
  const exporter = new OtlpExporter(settings, log);
  // It warns only of dropped spans, which were created faster than they are sent; the exporter reports its own failures.
  diag.setLogger({ ...silent, warn: (message) => exporter.report(message) }, { suppressOverrideMessage: true });
  const resource = { 'service.instance.id': node, ...settings.resource };
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(resource)),
    sampler: createSampler(settings),
    spanLimits: { attributeValueLengthLimit: maxAttributeLength },
    spanProcessors: [new BatchSpanProcessor({ exporter, maxQueueSize, maxExportBatchSize })],
  });
  const tracer = provider.getTracer('postroom');
  return {
    settings: settings as Pick<TracingSettings, 'hasDocuments' | 'followsClients'>,
    /** Undefined if the trace is not sampled. */
    start({ name, kind, parent, attributes = {} }: SpanStart): Span | undefined {
      const span = tracer.startSpan(
        name,
        { kind: kinds[kind], attributes },
        propagator.extract(ROOT_CONTEXT, parent, defaultTextMapGetter),
      );
      return span.isRecording() ? new Span(tracer, span) : undefined;
    },
    /** Sends the last spans, for two seconds at most. */
    async close(): Promise<void> {
      const timer = setTimeout(() => exporter.stop(), closeTimeoutMs);
      // What could not be sent has been logged.
      await provider.shutdown().catch(() => {});
      clearTimeout(timer);
      diag.disable();
    },
  };
}

/** A span that is recorded. Where nothing is recorded, there is no span. */
export class Span {
  /** For the parts of the trace in other processes. */
  readonly context: TraceContext = { traceparent: '' };
  readonly #tracer: Tracer;
  readonly #span: OpenTelemetrySpan;
  #asParent: Context | undefined;

  constructor(tracer: Tracer, span: OpenTelemetrySpan) {
    this.#tracer = tracer;
    this.#span = span;
    propagator.inject(trace.setSpan(ROOT_CONTEXT, span), this.context, defaultTextMapSetter);
  }

  startChild(name: string, kind: keyof typeof kinds, attributes: SpanAttributes = {}): Span {
    this.#asParent ??= trace.setSpan(ROOT_CONTEXT, this.#span);
    const span = this.#tracer.startSpan(name, { kind: kinds[kind], attributes }, this.#asParent);
    return new Span(this.#tracer, span);
  }

  rename(name: string): void {
    if (this.#span.isRecording()) this.#span.updateName(name);
  }

  set(attributes: SpanAttributes): void {
    if (this.#span.isRecording()) this.#span.setAttributes(attributes);
  }

  /** Only the first call counts. `errorType`: a code, or the name of an error; it makes the span a failed one. */
  end(errorType?: string): void {
    if (!this.#span.isRecording()) return;
    if (errorType !== undefined) {
      this.#span.setAttribute('error.type', errorType).setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

function createSampler({ sampler: { name, ratio } }: TracingSettings): Sampler {
  // `always_on` and `always_off` are the ratios 1 and 0.
  const root = new TraceIdRatioBasedSampler(name.endsWith('_on') ? 1 : name.endsWith('_off') ? 0 : ratio);
  return name.startsWith('parentbased') ? new ParentBasedSampler({ root }) : root;
}

function ignore(): void {}

const silent = { error: ignore, warn: ignore, info: ignore, debug: ignore, verbose: ignore };

/* OTLP/HTTP: https://opentelemetry.io/docs/specs/otlp/#otlphttp */

const timeoutMs = 10_000;
const reportIntervalMs = 60_000;

/**
 * Sends spans as JSON. A batch that fails is lost: a repetition would keep spans in memory, and the process alive at
 * its end. The log has at most one line in a minute.
 */
class OtlpExporter implements SpanExporter {
  readonly #settings: Pick<TracingSettings, 'url' | 'headers'>;
  readonly #log: Pick<Log, 'warn'>;
  readonly #stopping = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  /** The spans that were lost since the last report. */
  #lost = 0;
  readonly #isDue = createReportLimit({ intervalMs: reportIntervalMs });

  constructor(settings: Pick<TracingSettings, 'url' | 'headers'>, log: Pick<Log, 'warn'>) {
    this.#settings = settings;
    this.#log = log;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    const sending = this.#send(spans).then(done);
    this.#sending.add(sending);
    void sending.finally(() => this.#sending.delete(sending));
  }

  /** Gives up the requests that are running; no later one is sent. */
  stop(): void {
    this.#stopping.abort(new Error('the server has stopped'));
  }

  /** Resolves when all spans are sent, or are given up. */
  async shutdown(): Promise<void> {
    await Promise.all(this.#sending);
  }

  /** Logs why spans were lost: all reasons together at most once in a minute. */
  report(reason: string): void {
    if (!this.#isDue('lost')) return;
    this.#log.warn({ reason, lost: this.#lost, url: this.#settings.url }, 'spans of traces could not be sent');
    this.#lost = 0;
  }

  async #send(spans: ReadableSpan[]): Promise<ExportResult> {
    try {
      await this.#post(JsonTraceSerializer.serializeRequest(spans));
      return { code: ExportResultCode.SUCCESS };
    } catch (error) {
      this.#lost += spans.length;
      this.report(reasonOf(error));
      return { code: ExportResultCode.FAILED };
    }
  }

  async #post(body: Uint8Array | undefined): Promise<void> {
    const { url, headers } = this.#settings;
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      // Its buffer is not shared.
      body: body as Uint8Array<ArrayBuffer>,
      redirect: 'error',
      signal: AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`it responded with the status ${response.status}`);
  }
}
