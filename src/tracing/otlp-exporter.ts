import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Log } from '../log.ts';
import type { TracingSettings } from '../tracing-settings.ts';

/* OTLP/HTTP: https://opentelemetry.io/docs/specs/otlp/#otlphttp */

const timeoutMs = 10_000;
const minReportIntervalMs = 60_000;

/**
 * Sends spans as JSON. A batch that fails is lost: a repetition would keep spans in memory, and the process alive at
 * its end. The log has at most one line in a minute.
 */
export class OtlpExporter implements SpanExporter {
  readonly #settings: Pick<TracingSettings, 'url' | 'headers'>;
  readonly #log: Pick<Log, 'warn'>;
  readonly #requests = new Set<AbortController>();
  readonly #sending = new Set<Promise<void>>();
  #isStopped = false;
  /** The spans that were lost since the last report. */
  #lost = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;

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
    this.#isStopped = true;
    for (const request of this.#requests) request.abort(new Error('the server has stopped'));
  }

  /** Resolves when all spans are sent, or are given up. */
  async shutdown(): Promise<void> {
    await Promise.all(this.#sending);
  }

  /** OpenTelemetry warns when it has dropped spans, because they were created faster than they are sent. */
  noteWarning(reason: string): void {
    this.#report(reason);
  }

  async #send(spans: ReadableSpan[]): Promise<ExportResult> {
    try {
      await this.#post(JsonTraceSerializer.serializeRequest(spans));
      return { code: ExportResultCode.SUCCESS };
    } catch (error) {
      this.#lost += spans.length;
      this.#report(reasonOf(error));
      return { code: ExportResultCode.FAILED };
    }
  }

  async #post(body: Uint8Array | undefined): Promise<void> {
    if (this.#isStopped || !body) throw new Error('the server has stopped');
    const { url, headers } = this.#settings;
    const request = new AbortController();
    const timer = setTimeout(() => request.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    this.#requests.add(request);
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        // Its buffer is not shared.
        body: body as Uint8Array<ArrayBuffer>,
        redirect: 'error',
        signal: request.signal,
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`it responded with the status ${response.status}`);
    } finally {
      clearTimeout(timer);
      this.#requests.delete(request);
    }
  }

  #report(reason: string): void {
    const now = performance.now();
    if (now - this.#reportedAt < minReportIntervalMs) return;
    this.#log.warn({ reason, lost: this.#lost, url: this.#settings.url }, 'spans of traces could not be sent');
    this.#reportedAt = now;
    this.#lost = 0;
  }
}

/** `fetch` names the reason in the cause of its error; an error of several addresses of a host has no message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : reasonOf(error.cause);
}
