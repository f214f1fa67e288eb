import { useApolloClient, useReactiveVar } from '@apollo/client/react';
import type { UIEvent } from 'react';
import { OlderPostsDocument } from '../gql/graphql.ts';
import { connectionState } from '../live.ts';
import { outbox, send } from '../outbox.ts';
import { usePresence, useTyping } from '../presence.ts';
import { useReading } from '../reading.ts';
import type { Room } from '../room.ts';
import { useLiveRoom } from '../use-live-room.ts';
import { Button, Failure } from './form.tsx';
import { Members, Membership } from './members.tsx';
import { OutgoingPostView, PostForm, PostView } from './post-view.tsx';
import { Present, Typing } from './presence.tsx';

export function RoomView({ id }: { id: string }) {
  const state = useReactiveVar(connectionState);
  const { room, error } = useLiveRoom(id);
  const presence = usePresence(id);
  const typing = useTyping(id);
  useReading(id);

  function submit(title: string) {
    typing.reset();
    send(id, title);
  }

  return (
    <>
      <header>
        <h1>{room?.name ?? 'Room'}</h1>
        <span role="status">{state}</span>
        {presence && <Present presence={presence} />}
        {room && <Membership room={room} />}
        {room?.visibility === 'PRIVATE' && <Members room={room} />}
      </header>
      <Failure error={error} />
      {room && <Posts room={room} />}
      <Typing presence={presence} />
      <PostForm
        autoFocus
        label="Message"
        action="Send"
        onInput={({ currentTarget }) => typing.report(currentTarget.value)}
        onSubmit={submit}
      />
    </>
  );
}

function Posts({ room: { id, posts } }: { room: Room }) {
  const client = useApolloClient();
  const outgoing = useReactiveVar(outbox).filter((post) => post.room === id);
  const { hasPreviousPage, startCursor: before } = posts.pageInfo;

  function loadOlder() {
    const variables = { room: id, before };
    client.query({ query: OlderPostsDocument, variables, fetchPolicy: 'network-only' }).catch(() => {}); // the button remains
  }

  // The column is reversed: `scrollTop` is 0 at the end, and negative before it.
  function handleScroll({ currentTarget: { scrollHeight, clientHeight, scrollTop } }: UIEvent) {
    if (hasPreviousPage && scrollHeight - clientHeight + scrollTop < 200) loadOlder();
  }

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
    <div className="posts" role="log" aria-label="Messages" tabIndex={0} onScroll={handleScroll}>
      <ol>
        <li>{hasPreviousPage && <Button onClick={loadOlder}>Older messages</Button>}</li>
        {posts.nodes.map((post) => (
          <PostView key={post.id} post={post} />
        ))}
        {outgoing.map((post) => (
          <OutgoingPostView key={post.key} post={post} />
        ))}
      </ol>
    </div>
  );
}
