import { graphql } from './graphql.ts';
import { postroom } from './postroom.ts';
import { createQueries } from './queries.ts';
import { followRoom, pagesOf } from './room.ts';

const room = process.env['ROOM'] ?? '';
const queries = createQueries();
const { pages } = await queries.fetchInfiniteQuery(pagesOf(graphql, room));
const after = pages[0]?.room?.cursor;
if (after === undefined) throw new Error(`There is no room ${room}.`);
console.log(JSON.stringify({ ready: true }));
await followRoom({ live: postroom.live, queries, room, after }, ({ __typename: event, post }) => {
  console.log(JSON.stringify({ event, title: post?.title }));
});
