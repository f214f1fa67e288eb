import { ask } from '../support/client.ts';

const post = '{ id title publishedAt author { id name } }';
const posts = `{ edges { cursor node ${post} } pageInfo { hasNextPage hasPreviousPage endCursor } }`;

export interface NamedQuery {
  name: string;
  query: string;
}

/** The measured queries, with cursors and ids of the imported history. */
export async function chooseQueries(port: number): Promise<NamedQuery[]> {
  const query = '{ roomByName(name: "ubuntu") { id posts(last: 21) { edges { cursor node { author { id } } } } } }';
  const { roomByName: room } = await ask(port, { query });
  const [first] = room.posts.edges;
  const inRoom = (args: string) => `{ room(id: "${room.id}") { posts(${args}) ${posts} } }`;
  return [
    { name: 'a page of 20 posts', query: `{ posts(limit: 20) { data ${post} pagination { page limit } } }` },
    { name: 'room posts, first: 20', query: inRoom('first: 20') },
    { name: 'room posts, last: 20', query: inRoom('last: 20') },
    {
      name: 'room posts, first: 20 after the 21st cursor from the end',
      query: inRoom(`first: 20, after: "${first.cursor}"`),
    },
    {
      name: 'a user with the last 10 posts',
      query: `{ user(id: "${first.node.author.id}") { id name posts(last: 10) ${post} } }`,
    },
    {
      name: '20 users with the last 10 posts of each',
      query: `{ users(limit: 20) { data { id name posts(last: 10) { id title } } } }`,
    },
    { name: 'page 9,000 of 20 posts', query: `{ posts(page: 9000, limit: 20) { data ${post} } }` },
    {
      name: 'a page of 20 posts, with total',
      query: `{ posts(limit: 20) { data ${post} pagination { total pages } } }`,
    },
    {
      name: '20 posts of a room and a year',
      query: `{ posts(filter: { room: "${room.id}", publishedAfter: "2010-01-01T00:00:00Z", publishedBefore: "2011-01-01T00:00:00Z" }) { data ${post} } }`,
    },
    { name: '20 users by part of the name', query: `{ users(filter: { name: "bot" }) { data { id name } } }` },
    {
      name: '20 posts by part of the title (rare)',
      query: `{ posts(filter: { title: "kernel panic on boot" }) { data ${post} } }`,
    },
  ];
}
