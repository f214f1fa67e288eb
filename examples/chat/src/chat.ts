import * as postroom from '@postroom/client';
import { createClient } from 'graphql-ws';
import { createContext, use } from 'react';
import { endSession, readSession, type Session, storeSession } from './session.ts';

type InboxEvent = { __typename: string; actor: { id: string } | null };

const url: string = import.meta.env['VITE_POSTROOM_URL'] ?? 'http://127.0.0.1:4000/graphql';

/** A client without credentials, to sign in and to sign up. */
export const openGuest = () => postroom.createPostroomClient({ url, createClient });

export type Chat = ReturnType<typeof openChat>;

/** What the components of a signed-in user share. */
export function openChat({ token, user }: Session) {
  let latest = token;
  /** The posts of others that have arrived, and the subscriptions that the stores have answered with a new query. */
  const counts = { received: 0, restarts: 0 };
  const client = postroom.createPostroomClient({
    url,
    createClient,
    token,
    onToken: (renewed) => {
      latest = renewed;
      // Another tab may have signed in as somebody else meanwhile.
      if (readSession()?.user.id === user.id) storeSession({ token: renewed, user });
    },
    onEnd: ({ action }) => {
      if (action === 'query') counts.restarts += 1;
      if (action === 'signIn') handleRefusal();
    },
  });
  function handleRefusal(): void {
    // Another tab has renewed the session, which this one could not do while it was frozen.
    if ((readSession()?.token ?? latest) !== latest) location.reload();
    else endSession('Your session has ended. Please sign in again.');
  }
  client.live.on('message', (message) => {
    const event = message.type === 'next' && (message.payload.data?.['inbox'] as InboxEvent | undefined);
    if (event && event.__typename === 'PostCreated' && event.actor?.id !== user.id) counts.received += 1;
  });
  const outbox = postroom.outboxStore(client, user.id);
  return { client, inbox: postroom.inboxStore(client), outbox, viewer: user, counts, handleRefusal };
}

/** It has a value wherever components are rendered for a signed-in user. */
export const ChatContext = createContext({} as Chat);
export const useChat = () => use(ChatContext);
