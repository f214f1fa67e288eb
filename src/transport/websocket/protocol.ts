import { CloseCode, type Context, makeServer, type Server } from 'graphql-ws';
import { ClientError } from '../../errors.ts';
import type { Viewer } from '../../identity/viewer.ts';
import type { TransportParts } from '../transport.ts';
import { tryAgainLater, type WebSocketConnection } from './connection.ts';
import { readSeen } from './seen.ts';

/* graphql-transport-ws: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md */

type ConnectionContext = Context<Record<string, unknown> | undefined, WebSocketConnection>;

/**
 * graphql-ws handles the connection: its acknowledgement, its pings, and what a client does wrong there. Operations are
 * started and ended by the reader of messages, because the engine serialises their results.
 */
export function createProtocol(parts: TransportParts): Server<WebSocketConnection> {
  return makeServer<Record<string, unknown> | undefined, WebSocketConnection>({
    onConnect: (context) => connect(context, parts),
    async onPing(context, payload) {
      if (context.acknowledged && payload && 'authorization' in payload)
        await renew(context, payload['authorization'], parts);
    },
  });
}

/** Finds the viewer, and the cursors after which subscriptions resume; false closes the socket with 4403. */
async function connect(context: ConnectionContext, parts: TransportParts): Promise<boolean> {
  const { extra, connectionParams } = context;
  extra.context = context;
  const given = connectionParams?.['authorization'] ?? extra.authorization;
  const seen = readSeen(connectionParams?.['live'], parts.config.limits.subscriptions);
  // Neither is needed again, and both may be long.
  delete (context as { connectionParams?: unknown }).connectionParams;
  extra.authorization = undefined;
  if (typeof seen === 'string') extra.end(CloseCode.BadRequest, seen);
  if (typeof seen === 'string' || !extra.isOpen) return false;
  const viewer = await authenticate(extra, given, parts);
  if (viewer === undefined) return false;
  extra.setSeen(seen);
  await extra.credentials.set(viewer, parts.watchCredentials);
  return true;
}

/** Renews the credentials of an open socket, or sets its first. Invalid credentials, or those of another user: 4403. */
async function renew({ extra }: ConnectionContext, authorization: unknown, parts: TransportParts): Promise<void> {
  const viewer = await authenticate(extra, authorization, parts);
  const { viewer: current } = extra.credentials;
  const isSame = viewer != null && (current === null || viewer.user.id === current.user.id);
  if (isSame) await extra.credentials.set(viewer, parts.watchCredentials);
  else extra.end(CloseCode.Forbidden, 'Forbidden');
}

/** Undefined if the credentials are invalid. If they cannot be checked, the socket is also closed with 1013. */
async function authenticate(
  connection: WebSocketConnection,
  authorization: unknown,
  parts: TransportParts,
): Promise<Viewer | null | undefined> {
  if (authorization !== undefined && typeof authorization !== 'string') return undefined;
  try {
    return await parts.authenticate(authorization, connection.address);
  } catch (error) {
    const code = error instanceof ClientError ? error.code : undefined;
    if (code === 'UNAUTHENTICATED') return undefined;
    if (code !== 'RATE_LIMITED') parts.log.error({ err: error }, 'credentials could not be checked');
    connection.end(tryAgainLater, 'Try again later');
    return undefined;
  }
}
