import type { Channel } from '../common/channel.ts';
import type { Config } from '../config/config.ts';
import type { Engine } from '../engine/engine.ts';
import type { ClientMemory } from '../engine/limits/client-memory.ts';
import type { OperationReports } from '../engine/operation-reports.ts';
import type { Authenticate } from '../identity/authentication.ts';
import type { WatchCredentials } from '../identity/credential-watch.ts';
import type { Log } from '../log/log.ts';
import type { AnswerBudget } from './admission/memory-budgets.ts';
import type { LongConnections } from './long-connections.ts';

/** The parts that all transports use. */
export interface TransportParts {
  engine: Engine;
  operationReports: OperationReports;
  authenticate: Authenticate;
  watchCredentials: WatchCredentials;
  answerBudget: AnswerBudget;
  config: Config;
  /** Of the workers of this machine. */
  parent?: Channel | undefined;
  /** Counts the memory that the server keeps for each client. */
  clientMemory: ClientMemory;
  longConnections: LongConnections;
  log: Log;
}
