import { post } from '../clients/http.ts';
import { ProtocolSocket } from '../clients/protocol-socket.ts';
import type { Postroom, ReplyError } from '../server/postroom.ts';

export interface CredentialReply {
  status: number;
  challenge: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the query's.
  data?: any;
  errors?: ReplyError[] | undefined;
}

/** Sends POST /graphql with any Authorization header. */
export async function sendAs(
  postroom: Postroom,
  authorization: string | undefined,
  query = '{ viewer { id name } }',
  variables: Record<string, unknown> = {},
): Promise<CredentialReply> {
  const headers = authorization === undefined ? {} : { authorization };
  const reply = await post(postroom, query, { headers, variables });
  return {
    status: reply.status,
    challenge: reply.headers['www-authenticate'] ?? null,
    data: reply.data,
    errors: reply.errors,
  };
}

/** Resolves with `admitted`, or with the close code of a refused WebSocket. */
export async function connectAs({ webSocketUrl }: Postroom, authorization: unknown): Promise<'admitted' | number> {
  const socket = await ProtocolSocket.open(webSocketUrl, { init: false });
  socket.send({ type: 'connection_init', payload: { authorization } });
  const outcome = await Promise.race([
    socket.closed.then(({ code }) => code),
    socket.take().then(() => 'admitted' as const),
  ]);
  socket.webSocket.terminate();
  return outcome;
}
