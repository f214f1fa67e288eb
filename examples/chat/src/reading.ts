import { type Post, positionOf } from '@postroom/client';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { Chat } from './chat.ts';
import { findLastRead } from './operations.ts';

/** Each mark counts against the rate of the user, and is an event on all devices of the user. */
const markEveryMs = 2_000;
/** Greater than each position. */
const end = '~';

export interface Reading {
  /** The line "new" is before the first post of others after this position. Undefined until it is known. */
  line: string | undefined;
  /** The position of the last post that was visible. */
  seen: string;
  /** Call it with the last visible post, and whether the end of the list is visible, too. */
  see: (post: Post | undefined, isEndVisible: boolean) => void;
}

/** What the viewer has seen of the posts, which it marks as read. `posts` is undefined until they were read. */
export function useReading(chat: Chat, room: string, posts: readonly Post[] | undefined, isMember: boolean): Reading {
  const { client, viewer } = chat;
  const [line, setLine] = useState<string>();
  const [seen, setSeen] = useState('');
  const [marks] = useState(() => createMarks(chat, room));
  const last = useRef<string>(undefined);
  const isEndVisible = useRef(true);

  useEffect(() => {
    let isMounted = true;
    const start = (time: string | null) => {
      if (!isMounted) return;
      marks.marked = (time ?? '') + (time ? end : '');
      setLine((time ?? '') + end);
    };
    findLastRead(client, room).then(start, () => start(null));
    // A mark that is sent later could be lost with the page.
    document.addEventListener('visibilitychange', marks.flush);
    return () => {
      isMounted = false;
      document.removeEventListener('visibilitychange', marks.flush);
      marks.flush();
    };
  }, [client, room, marks]);

  useLayoutEffect(() => {
    if (!posts) return;
    const newest = posts.at(-1);
    const before = last.current;
    const now = newest ? positionOf(newest) : '';
    last.current = now;
    if (before === undefined || now <= before) return;
    const hasLine = posts.some((post) => positionOf(post) <= before && positionOf(post) > (line ?? end));
    if (newest?.author.id === viewer.id || (isEndVisible.current && !hasLine)) setLine(now);
    // All earlier posts were seen: the new posts begin here.
    else if (!isEndVisible.current && seen >= before) setLine(before);
  }, [posts, line, seen, viewer]);

  const see = useCallback(
    (post: Post | undefined, isEnd: boolean) => {
      isEndVisible.current = isEnd;
      if (!post) return;
      setSeen((known) => (positionOf(post) > known ? positionOf(post) : known));
      if (isMember) marks.add(post);
    },
    [marks, isMember],
  );
  return useMemo(() => ({ line, seen, see }), [line, seen, see]);
}

/** Marks posts as read: the first at once, further ones after a pause. */
function createMarks({ inbox, viewer }: Chat, room: string) {
  let latest: Post | undefined;
  let sentAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const marks = {
    /** The position up to which the room is marked. Nothing is marked until it is known. */
    marked: end,
    add: (post: Post) => {
      if (positionOf(post) <= marks.marked) return;
      marks.marked = positionOf(post);
      // Publishing a post marks its room.
      if (post.author.id === viewer.id) return;
      latest = post;
      timer ??= setTimeout(marks.flush, sentAt + markEveryMs - Date.now());
    },
    flush: () => {
      if (timer === undefined || !latest) return;
      clearTimeout(timer);
      timer = undefined;
      sentAt = Date.now();
      inbox.markRead(room, latest.id).catch(() => {
        // It is tried again with the next post that is seen.
        marks.marked = '';
      });
    },
  };
  return marks;
}
