import { makeVar } from '@apollo/client';
import { type ClientOptions, createClient } from 'graphql-ws';
import { Observable } from 'rxjs';
import { resumable } from './resumable.js';
import { endSession, session } from './session.ts';

export const serverUrl: string = import.meta.env['VITE_POSTROOM_URL'] ?? 'http://127.0.0.1:4000/graphql';
export const connectionState = makeVar<'Connecting…' | 'Live' | 'Reconnecting…'>('Connecting…');

const refused = 4403; // the credentials have expired or were revoked
const ended = 1008; // by an operator
const { connectionParams, ...options } = resumable();
let pongTimer: number | undefined;

export const live = createClient({
  ...(options as Pick<ClientOptions, 'on' | 'jsonMessageReplacer'>),
  url: serverUrl.replace(/^http/, 'ws'),
  connectionParams: () => ({ ...connectionParams(), authorization: `Bearer ${session?.accessToken}` }),
  retryAttempts: Number.POSITIVE_INFINITY,
  retryWait: (retries) =>
    new Promise((retry) => setTimeout(retry, Math.random() * Math.min(5_000, 500 * 2 ** retries))),
  shouldRetry: (event) => ![refused, ended].includes((event as CloseEvent).code),
  keepAlive: 10_000,
  lazyCloseTimeout: 5_000, // the inbox starts again within this time
});

/** Emits when the connection is back. */
export const reconnected = new Observable<void>((observer) =>
  live.on('connected', (_socket, _payload, wasRetry) => wasRetry && observer.next()),
);

live.on('connected', () => connectionState('Live'));
live.on('closed', (event) => {
  clearTimeout(pongTimer);
  connectionState('Reconnecting…');
  if ((event as CloseEvent).code === refused) endSession();
});
// A connection that does not answer for five seconds is closed, so that the client connects again.
live.on('ping', (wasReceived) => {
  if (!wasReceived) pongTimer = window.setTimeout(() => live.terminate(), 5_000);
});
live.on('pong', () => clearTimeout(pongTimer));
