import { once } from 'node:events';
import WebSocket from 'ws';
import type { Postroom, ReplyError } from './postroom.ts';

export interface CredentialReply {
  status: number;
  challenge: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the query's.
  data?: any;
  errors?: ReplyError[];
}

/** Sends POST /graphql with any Authorization header. */
export async function sendAs(
  { graphqlUrl }: Postroom,
  authorization: string | undefined,
  query = '{ viewer { id name } }',
  variables: Record<string, unknown> = {},
): Promise<CredentialReply> {
  const response = await fetch(graphqlUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json',
      ...(authorization !== undefined && { authorization }),
    },
    body: JSON.stringify({ query, variables }),
  });
  const challenge = response.headers.get('www-authenticate');
  const text = await response.text();
  return { status: response.status, challenge, ...(text.startsWith('{') && JSON.parse(text)) };
}

/** Resolves with `admitted`, or with the close code of a refused WebSocket. */
export async function connectAs({ webSocketUrl }: Postroom, authorization: unknown): Promise<'admitted' | number> {
  const socket = new WebSocket(webSocketUrl, 'graphql-transport-ws');
  socket.on('error', () => {});
  await once(socket, 'open');
  const closed = once(socket, 'close').then(([code]) => Number(code));
  const admitted = once(socket, 'message').then(() => 'admitted' as const);
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } }), () => {});
  const outcome = await Promise.race([closed, admitted]);
  socket.terminate();
  return outcome;
}
