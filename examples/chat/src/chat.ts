import * as postroom from '@postroom/client';
import { createClient } from 'graphql-ws';
import { createContext, use } from 'react';
import { endSession, type Session, storeSession } from './session.ts';

/** What the components of a signed-in user share. */
export interface Chat {
  client: postroom.PostroomClient;
  inbox: postroom.InboxStore;
  outbox: postroom.OutboxStore;
  viewer: postroom.User;
  /** The ends of subscriptions that the stores have answered with a new query. */
  restarts: postroom.Failure[];
}

const url: string = import.meta.env['VITE_POSTROOM_URL'] ?? 'http://127.0.0.1:4000/graphql';

/** A client without credentials, to sign in and to sign up. */
export const openGuest = () => postroom.createPostroomClient({ url, createClient });

export function openChat({ token, user }: Session): Chat {
  const restarts: postroom.Failure[] = [];
  const client = postroom.createPostroomClient({
    url,
    createClient,
    token,
    onToken: (renewed) => storeSession({ token: renewed, user }),
    onEnd: (failure) => {
      if (failure.action === 'signIn') endSession('Your session has ended. Please sign in again.');
      if (failure.action === 'query') restarts.push(failure);
    },
  });
  const outbox = postroom.outboxStore(client, user.id);
  return { client, inbox: postroom.inboxStore(client), outbox, viewer: user, restarts };
}

/** It has a value wherever components are rendered for a signed-in user. */
export const ChatContext = createContext({} as Chat);
export const useChat = () => use(ChatContext);
