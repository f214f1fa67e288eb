import { ApolloClient, ApolloLink, HttpLink } from '@apollo/client';
import { createCache } from './cache.ts';
import { createPost, createRoom, signUp } from './documents.ts';
import { url } from './settings.ts';

/* What the checks start from. */

/** A client of a new user. The links are put before the one that sends requests. */
export async function openClient(links: ApolloLink[] = [], fetcher = fetch): Promise<ApolloClient> {
  const headers = { authorization: `Bearer ${await getToken()}` };
  const http = new HttpLink({ uri: url, headers, fetch: fetcher });
  return new ApolloClient({ cache: createCache(), link: ApolloLink.from([...links, http]) });
}

async function getToken(): Promise<string | undefined> {
  const guest = new ApolloClient({ cache: createCache(), link: new HttpLink({ uri: url }) });
  const input = { name: 'Ada', email: `ada-${crypto.randomUUID()}@example.org`, password: 'correct horse' };
  const { data } = await guest.mutate({ mutation: signUp, variables: { input } });
  return data?.signUp.accessToken;
}

/** The id of a new room with posts. */
export async function fillRoom(client: ApolloClient, titles: string[]): Promise<string> {
  const input = { name: `room ${crypto.randomUUID()}` };
  const { data } = await client.mutate({ mutation: createRoom, variables: { input } });
  const room = data?.createRoom.room.id ?? '';
  for (const title of titles) await client.mutate({ mutation: createPost, variables: { input: { room, title } } });
  return room;
}

/** `fetch`, and the status of each answer. */
export function countFetches() {
  const statuses: number[] = [];
  const fetcher: typeof fetch = async (...args) => {
    const response = await fetch(...args);
    statuses.push(response.status);
    return response;
  };
  return { fetcher, statuses };
}
