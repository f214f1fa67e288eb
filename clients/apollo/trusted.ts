import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { ApolloClient, gql } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { generatePersistedQueryIdsFromManifest } from '@apollo/persisted-query-lists';
import { failureOf } from '@postroom/client';
import { firstValueFrom } from 'rxjs';
import { createCache } from './cache.ts';
import { createPost, roomEvents, roomPage } from './documents.ts';
import { fillRoom, openClient } from './example.ts';
import { postroom } from './postroom.ts';

/* The server runs only the documents of trusted-documents.json, which `npm run documents` writes. */

const loadManifest = async () => JSON.parse(await readFile('trusted-documents.json', 'utf8'));
const trusted = new PersistedQueryLink(generatePersistedQueryIdsFromManifest({ loadManifest }));

test('documents of the manifest are sent by their ids', async () => {
  const client = await openClient([trusted]);
  const room = await fillRoom(client, ['Hello']);
  const { data } = await client.query({ query: roomPage, variables: { room } });
  assert.equal(data?.room?.posts.edges[0]?.node.title, 'Hello');
});

test('another document is refused', async () => {
  const client = await openClient();
  const answer = client.query({ query: gql`query Other { viewer { id } }` });
  await assert.rejects(answer, (error) => failureOf(error).code === 'DOCUMENT_NOT_TRUSTED');
});

test('a subscription of the manifest runs over a WebSocket', async () => {
  const writer = await openClient([trusted]);
  const room = await fillRoom(writer, []);
  const { data } = await writer.query({ query: roomPage, variables: { room } });
  const reader = new ApolloClient({ cache: createCache(), link: trusted.concat(new GraphQLWsLink(postroom.live)) });
  const after = data?.room?.cursor ?? '';
  const event = firstValueFrom(reader.subscribe({ query: roomEvents, variables: { room, after } }));
  await writer.mutate({ mutation: createPost, variables: { input: { room, title: 'Hello' } } });
  assert.equal((await event).data?.roomEvents.post?.title, 'Hello');
});
