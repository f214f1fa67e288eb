import type { Postroom } from '../server/postroom.ts';

export interface RoomEvent {
  __typename: string;
  cursor: string;
  actor: { id: string } | null;
  post?: { id: string; title: string; version: number } | null;
  postId?: string;
  user?: { id: string; name: string } | null;
}

const query = `subscription ($room: ID!, $after: String) {
  roomEvents(room: $room, after: $after) {
    __typename cursor actor { id }
    ... on PostCreated { post { id title version } }
    ... on PostUpdated { post { id title version } }
    ... on PostDeleted { postId }
    ... on MemberJoined { user { id name } }
    ... on MemberLeft { user { id name } }
  }
}`;

/** Reads the first `count` events of a room after a cursor, by SSE. */
export async function readEvents(
  postroom: Postroom,
  { room, after, count }: { room: string; after: string; count: number },
): Promise<RoomEvent[]> {
  const leave = new AbortController();
  const response = await fetch(postroom.graphqlUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query, variables: { room, after } }),
    signal: leave.signal,
  });
  if (!response.body) throw new Error('The stream has no body.');
  const events: RoomEvent[] = [];
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue;
      const { data, errors } = JSON.parse(line.slice('data: '.length));
      if (errors) throw new Error(JSON.stringify(errors));
      events.push(data.roomEvents);
    }
    if (events.length >= count) break;
  }
  leave.abort();
  return events;
}
