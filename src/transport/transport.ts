import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../config.ts';
import type { Engine } from '../engine/engine.ts';
import type { ClientMemory } from '../engine/limits/client-memory.ts';
import type { OperationReports } from '../engine/operation-reports.ts';
import type { Authenticate } from '../identity/authentication.ts';
import type { Watch } from '../identity/credential-watch.ts';
import type { Viewer } from '../identity/viewer.ts';
import type { Log } from '../log.ts';
import type { AnswerBudget } from './admission/answer-budget.ts';
import type { Drain } from './drain.ts';

/** The parts that all transports use. */
export interface TransportParts {
  engine: Engine;
  operations: OperationReports;
  authenticate: Authenticate;
  /** Calls `end` when the viewer's credentials become invalid. */
  watch: (viewer: Viewer | null, end: () => void) => Watch;
  answerBudget: AnswerBudget;
  config: Pick<
    Config,
    | 'limits'
    | 'stallSeconds'
    | 'graphiql'
    | 'console'
    | 'trustProxy'
    | 'host'
    | 'publicUrl'
    | 'allowedOrigins'
    | 'oauth'
  >;
  /** Counts the memory that the server keeps for each client. */
  clientMemory: ClientMemory;
  drain: Drain;
  log: Log;
}

/**
 * Takes over the socket of a WebSocket handshake; calls `refuse` if the handshake is refused later. False if a limit of
 * sockets or of memory is reached.
 */
export type Upgrade = (
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  refuse: (socket: Socket, error: unknown) => void,
) => boolean;
