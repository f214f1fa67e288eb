import type { ServerResponse } from 'node:http';
import { Histogram } from '../../common/histogram.ts';
import type { HistogramSeries, Metrics } from './metrics.ts';

/* https://opentelemetry.io/docs/specs/semconv/http/http-metrics/ */

/** In seconds, as OpenTelemetry recommends. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** A client may send any other text as the method. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH']);
const otherMethod = '_OTHER';
/** The status of a request whose client left before any answer. */
const noStatus = 0;

/** A request, which is recorded once. */
export interface MeasuredRequest {
  response: ServerResponse;
  /** One of the paths that the server serves; empty for any other path. */
  route: string;
  /** By `performance.now()`. */
  startedAt: number;
  isRecorded: boolean;
}

/** Durations of HTTP requests by method, route and status. */
export class HttpMetrics {
  #active = 0;
  readonly #durations = new Map<string, HistogramSeries>();

  constructor(metrics: Metrics) {
    metrics.histogram('http_server_request_duration_seconds', 'Durations of HTTP requests.', () =>
      this.#durations.values(),
    );
    metrics.gauge('http_server_active_requests', 'HTTP requests that are being answered.', () => this.#active);
  }

  begin(): void {
    this.#active += 1;
  }

  /** Call it when the response is closed. */
  end(request: MeasuredRequest): void {
    this.#active -= 1;
    this.record(request);
  }

  /** Call it when an event stream begins: its duration says nothing about the server. */
  record(request: MeasuredRequest): void {
    const { response, route, startedAt, isRecorded } = request;
    if (isRecorded) return;
    request.isRecorded = true;
    const { headersSent, statusCode, req } = response;
    const method = methods.has(req.method ?? '') ? String(req.method) : otherMethod;
    const status = headersSent ? statusCode : noStatus;
    const key = `${method} ${status} ${route}`;
    const series = this.#durations.get(key) ?? {
      labels: labelsOf(method, route, status),
      histogram: new Histogram(bounds),
    };
    this.#durations.set(key, series);
    series.histogram.observeSince(startedAt);
  }
}

function labelsOf(method: string, route: string, status: number): HistogramSeries['labels'] {
  const errorType = status === noStatus ? 'client_disconnected' : String(status);
  return {
    http_request_method: method,
    ...(status !== noStatus && { http_response_status_code: String(status) }),
    ...(route !== '' && { http_route: route }),
    ...((status === noStatus || status >= 500) && { error_type: errorType }),
  };
}
