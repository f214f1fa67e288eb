import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { TracingSettings } from '../config/tracing-settings.ts';
import type { Log } from '../log/log.ts';
import { RecentReports } from '../log/recent-reports.ts';

/* OTLP/HTTP: https://opentelemetry.io/docs/specs/otlp/#otlphttp */

const timeoutMs = 10_000;
const reportIntervalMs = 60_000;

/**
 * Sends spans as JSON. A batch that fails is lost: a repetition would keep spans in memory, and the process alive at
 * its end. The log has at most one line in a minute.
 */
export class OtlpExporter implements SpanExporter {
  readonly #settings: Pick<TracingSettings, 'url' | 'headers'>;
  readonly #log: Pick<Log, 'warn'>;
  readonly #stopping = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  /** The spans that were lost since the last report. */
  #lost = 0;
  readonly #recent = new RecentReports({ intervalMs: reportIntervalMs });

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
    if (!this.#recent.isDue('lost')) return;
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

/** `fetch` names the reason in the cause of its error; an error of several addresses of a host has no message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs} ms`;
  return error.cause === undefined ? error.message : reasonOf(error.cause);
}
