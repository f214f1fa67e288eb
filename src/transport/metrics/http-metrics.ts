import type { ServerResponse } from 'node:http';
import { Histogram } from '../../histogram.ts';
import type { HistogramSeries, Labels, Metrics } from './metrics.ts';

/* https://opentelemetry.io/docs/specs/semconv/http/http-metrics/ */

/** In seconds, as OpenTelemetry recommends. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** A client may send any other text as the method. */
const methods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
]);
const otherMethod = '_OTHER';
/** The status of a request whose client left before any answer. */
const noStatus = 0;

type ByStatus = Map<number, Histogram>;

/** Durations of HTTP requests by method, route and status. */
export class HttpMetrics {
  active = 0;
  readonly #durations = new Map<string, Map<string, ByStatus>>();

  /** Measures a request until its response is closed. */
  begin(method: string | undefined, response: ServerResponse): RequestTimer {
    this.active += 1;
    const timer = new RequestTimer(this, method, response);
    response.on('close', () => {
      this.active -= 1;
      timer.record();
    });
    return timer;
  }

  observe(method: string | undefined, route: string, status: number, seconds: number): void {
    const known = method !== undefined && methods.has(method) ? method : otherMethod;
    const byRoute = getOrAdd(this.#durations, known, () => new Map<string, ByStatus>());
    const byStatus = getOrAdd(byRoute, route, () => new Map<number, Histogram>());
    getOrAdd(byStatus, status, () => new Histogram(bounds)).observe(seconds);
  }

  addTo(metrics: Metrics): void {
    metrics.histogram('http_server_request_duration_seconds', 'Durations of HTTP requests.', () => this.#series());
    metrics.gauge('http_server_active_requests', 'HTTP requests that are being answered.', () => this.active);
  }

  *#series(): Iterable<HistogramSeries> {
    for (const [method, byRoute] of this.#durations) {
      for (const [route, byStatus] of byRoute) {
        for (const [status, histogram] of byStatus) yield { labels: labelsOf(method, route, status), histogram };
      }
    }
  }
}

/** One request, which is recorded once. */
class RequestTimer {
  /** One of the paths that the server serves; empty for any other path. */
  route = '';
  readonly #metrics: HttpMetrics;
  readonly #method: string | undefined;
  readonly #response: ServerResponse;
  /** By `performance.now()`. */
  readonly startedAt = performance.now();
  #isRecorded = false;

  constructor(metrics: HttpMetrics, method: string | undefined, response: ServerResponse) {
    this.#metrics = metrics;
    this.#method = method;
    this.#response = response;
  }

  /** Call it when an event stream begins: its duration says nothing about the server. */
  record(): void {
    if (this.#isRecorded) return;
    this.#isRecorded = true;
    const { headersSent, statusCode } = this.#response;
    const seconds = (performance.now() - this.startedAt) / 1_000;
    this.#metrics.observe(this.#method, this.route, headersSent ? statusCode : noStatus, seconds);
  }
}

export type { RequestTimer };

function labelsOf(method: string, route: string, status: number): Labels {
  const errorType = status === noStatus ? 'client_disconnected' : String(status);
  return {
    http_request_method: method,
    ...(status !== noStatus && { http_response_status_code: String(status) }),
    ...(route !== '' && { http_route: route }),
    ...((status === noStatus || status >= 500) && { error_type: errorType }),
  };
}

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
