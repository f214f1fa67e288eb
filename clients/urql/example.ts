import { Client, type Exchange, fetchExchange } from '@urql/core';
import { createPost, createRoom, signUp } from './documents.ts';
import { url } from './settings.ts';

/* What the checks start from. */

interface Options {
  /** They are put before the one that sends requests. */
  exchanges?: Exchange[];
  token?: string | undefined;
  fetcher?: typeof fetch;
}

/** A client of a new user, unless there is a token. */
export async function openClient({ exchanges = [], token, fetcher = fetch }: Options = {}): Promise<Client> {
  const headers = { authorization: `Bearer ${token ?? (await createToken())}` };
  const options = { fetchOptions: { headers }, fetch: fetcher };
  return new Client({ url, exchanges: [...exchanges, fetchExchange], ...options });
}

export async function createToken(): Promise<string | undefined> {
  const guest = new Client({ url, exchanges: [fetchExchange] });
  const input = { name: 'Ada', email: `ada-${crypto.randomUUID()}@example.org`, password: 'correct horse' };
  const { data } = await guest.mutation(signUp, { input });
  return data?.signUp.accessToken;
}

/** The id of a new room with posts. */
export async function fillRoom(client: Client, titles: string[]): Promise<string> {
  const { data } = await client.mutation(createRoom, { input: { name: `room ${crypto.randomUUID()}` } });
  const room = data?.createRoom.room.id ?? '';
  for (const title of titles) await client.mutation(createPost, { input: { room, title } });
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
