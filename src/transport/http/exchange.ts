import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Failing } from '../../contain.ts';
import type { Call } from '../../engine/operation.ts';
import type { RequestTimer } from '../metrics/http-metrics.ts';
import type { TransportParts } from '../transport.ts';

/** One HTTP request and its answer. */
export interface Exchange extends Call, Failing {
  request: IncomingMessage;
  response: ServerResponse;
  /** The query of the URL, still percent-encoded. */
  query: string | undefined;
  /** Whether an error was already sent as the answer. */
  isRefused?: boolean;
  timer: RequestTimer;
  parts: Pick<TransportParts, 'engine' | 'operationReports' | 'answerBudget' | 'config' | 'log'>;
}
