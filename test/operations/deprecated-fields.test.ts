import { expect, it } from 'vitest';
import { EventStream } from '../support/clients/event-stream.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { readSeries } from '../support/engine/metrics.ts';
import { createProgramWithSchema } from '../support/run/newer-program.ts';
import { launchForTest, launchProcessForTest } from '../support/server/postroom.ts';

const metric = 'postroom_deprecated_fields_total';

const deprecated = '@deprecated(reason: "It is an example.")';
const field = 'Query.roomByName';
const argument = 'Query.posts(order:)';
const inputField = 'PostFilter.publishedAfter';
const enumValue = 'PostOrder.NEWEST_FIRST';
const eventField = 'PostDeleted.postId';

/** One process for all rules: the counts are those since its start. */
function launchWithDeprecations() {
  const program = createProgramWithSchema([
    ['"The name of the room."\n    name: String!\n  ): Room', deprecated],
    ['order: PostOrder = OLDEST_FIRST', deprecated],
    ['publishedAfter: DateTime', deprecated],
    ['New posts move the others to later pages."\n  NEWEST_FIRST', deprecated],
    ['postId: ID!', deprecated],
  ]);
  return launchProcessForTest({}, program);
}

it('an operation counts once for each deprecated element in its document or its variables, unless it is refused before it runs; a subscription counts when it begins, over WebSocket and SSE, and not for each event', async () => {
  const postroom = await launchWithDeprecations();
  const titles = '{ data { title } }';
  await postroom.ask(`{ posts ${titles} }`);
  expect(await readSeries(postroom, metric)).toEqual({});

  const query = 'query ($name: String!) { roomByName(name: $name) { id } }';
  expect((await postroom.send(query)).code).toBe('VARIABLES_INVALID');
  expect((await postroom.send('{ roomByName(name: "a") { none } }')).code).toBe('GRAPHQL_VALIDATION_FAILED');
  expect(await readSeries(postroom, metric)).toEqual({});

  const twice =
    'query { a: roomByName(name: "a") { id } ...Rooms } fragment Rooms on Query { b: roomByName(name: "b") { id } }';
  await postroom.ask(twice);
  await postroom.ask(query, { name: 'a' });
  expect(await readSeries(postroom, metric)).toEqual({ [field]: 2 });

  await postroom.ask(`{ posts(order: NEWEST_FIRST, filter: { publishedAfter: "2026-01-01T00:00:00Z" }) ${titles} }`);
  expect(await readSeries(postroom, metric)).toEqual({ [field]: 2, [argument]: 1, [enumValue]: 1, [inputField]: 1 });

  const withVariables = `query ($order: PostOrder, $filter: PostFilter) { posts(order: $order, filter: $filter) ${titles} }`;
  await postroom.ask(withVariables, { order: 'OLDEST_FIRST', filter: { title: 'publishedAfter' } });
  expect(await readSeries(postroom, metric)).toEqual({ [field]: 2, [argument]: 2, [enumValue]: 1, [inputField]: 1 });
  await postroom.ask(withVariables, { order: 'NEWEST_FIRST', filter: { publishedAfter: '2026-01-01T00:00:00Z' } });
  const counts = { [field]: 2, [argument]: 3, [enumValue]: 2, [inputField]: 2 };
  expect(await readSeries(postroom, metric)).toEqual(counts);

  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'hall');
  const subscription = `subscription { roomEvents(room: "${room}") { ... on PostDeleted { postId } } }`;
  const stream = await EventStream.open(postroom.graphqlUrl, subscription);
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  await socket.follow('live', subscription);
  await postroom.createPost(ada, room, 'First');
  await postroom.createPost(ada, room, 'Second');
  await stream.take(({ event }) => event === 'next');
  await stream.take(({ event }) => event === 'next');
  expect(await readSeries(postroom, metric)).toEqual({ ...counts, [eventField]: 2 });
});

it('without deprecated elements in the schema there are no series', async () => {
  const postroom = await launchForTest();
  await postroom.ask('{ roomByName(name: "a") { id } posts(order: NEWEST_FIRST) { data { id } } }');
  expect(await readSeries(postroom, metric)).toEqual({});
});
