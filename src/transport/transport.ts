import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../config.ts';
import type { Engine } from '../engine/engine.ts';
import type { Retained } from '../engine/limits/retained.ts';
import type { Watch } from '../identity/credential-watch.ts';
import type { Viewer } from '../identity/viewer.ts';
import type { Log } from '../log.ts';
import type { UnsentAnswers } from './admission/unsent-answers.ts';

/** What every transport is made of. */
export interface TransportParts {
  engine: Engine;
  /** @throws ClientError UNAUTHENTICATED for bad credentials. */
  authenticate: (authorization: string | undefined, address: string) => Promise<Viewer | null>;
  /** Calls `end` when the viewer's credentials are no longer good. */
  watch: (viewer: Viewer | null, end: () => void) => Watch;
  unsent: UnsentAnswers;
  config: Pick<
    Config,
    'limits' | 'stallSeconds' | 'graphiql' | 'trustProxy' | 'host' | 'publicUrl' | 'allowedOrigins' | 'oauth'
  >;
  /** What is kept for clients. */
  retained: Retained;
  log: Log;
}

/**
 * Takes over the socket of a WebSocket handshake; calls `refuse` where it finds later that it cannot. False where there is no
 * room for one more.
 */
export type Upgrade = (
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  refuse: (socket: Socket, error: unknown) => void,
) => boolean;
