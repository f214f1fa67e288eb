import type { CompiledOperation } from './documents/compiled-operation.ts';

/** What a report about a request needs to know, apart from its call. */
export class OperationReport {
  /** By `performance.now()`. Set again when the request has arrived, so that the time of a slow body does not count. */
  startedAt: number;
  compiled: CompiledOperation | undefined;
  /** The name in a request that was refused before its operation was found. */
  requestedName: string | undefined;
  isFinished = false;

  constructor(startedAt = performance.now()) {
    this.startedAt = startedAt;
  }
}
