import type { IncomingMessage } from 'node:http';
import type { Failing } from '../../common/contain.ts';
import type { Call } from '../../engine/operation-reports.ts';
import type { BodyBudget } from '../admission/memory-budgets.ts';
import type { HttpMetrics, MeasuredRequest } from '../metrics/http-metrics.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { TransportParts } from '../transport.ts';
import type { Connections } from './connections.ts';
import type { Origins } from './origins.ts';
import type { AllowedHosts } from './target.ts';

export interface DependencyStates {
  database: 'up' | 'down';
  /** Only a hint: without it events arrive later. */
  bus: 'up' | 'down';
}

/** The reason of the stop of a worker whose successor serves already: the server on its port stays ready. */
export const replaced = 'replaced';

/** The parts of the HTTP server. */
export interface HttpParts extends TransportParts {
  origins: Origins;
  hosts: AllowedHosts;
  bodies: BodyBudget;
  connections: Connections;
  /** Aborted when the server begins to stop. From then on it is not ready, and every answer closes its connection. */
  stopping: AbortSignal;
  /** The state of each part. Operations can be served while the database is up. */
  readState: () => Promise<DependencyStates>;
  /** Undefined if they are served on another port. */
  metrics: Metrics | undefined;
  httpMetrics: HttpMetrics;
}

/** One HTTP request and its answer. */
export interface Exchange extends Call, Failing, MeasuredRequest {
  request: IncomingMessage;
  /** The query of the URL, still percent-encoded. */
  query: string | undefined;
  /** Whether an error was already sent as the answer. */
  isRefused?: boolean;
  /** Undefined until it is read. */
  body: { abort(): void; take(): Buffer } | undefined;
  parts: HttpParts;
}

/** Answers a request. @throws the error that refuses it. */
export type Serve = (exchange: Exchange) => void | Promise<void>;
