import { GraphQLClient } from 'graphql-request';
import { createPost, createRoom, signUp } from './documents.ts';
import { url } from './settings.ts';

/* What the checks start from. */

/** A client of a new user. */
export async function openClient(fetcher = fetch): Promise<GraphQLClient> {
  const input = { name: 'Ada', email: `ada-${crypto.randomUUID()}@example.org`, password: 'correct horse' };
  const { accessToken } = (await new GraphQLClient(url).request(signUp, { input })).signUp;
  return new GraphQLClient(url, { headers: { authorization: `Bearer ${accessToken}` }, fetch: fetcher });
}

/** The id of a new room with posts. */
export async function fillRoom(client: GraphQLClient, titles: string[]): Promise<string> {
  const { room } = (await client.request(createRoom, { input: { name: `room ${crypto.randomUUID()}` } })).createRoom;
  for (const title of titles) await client.request(createPost, { input: { room: room.id, title } });
  return room.id;
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
