import { type OutboxEntry, type Post, positionOf, type RoomStore } from '@postroom/client';
import { type KeyboardEvent, memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useChat } from '../chat.ts';
import type { Reading } from '../reading.ts';
import { toRows } from '../rows.ts';
import { OutgoingPost, PostView } from './post-view.tsx';
import { Button, Icon } from './ui.tsx';

interface PostListProps {
  store: RoomStore;
  posts: readonly Post[];
  outgoing: readonly OutboxEntry[];
  reading: Reading;
  /** The id of the post that is edited. */
  editing: string | undefined;
  onEdit: (id: string | undefined) => void;
  onDelete: (id: string) => void;
  onSeeEnd: (isVisible: boolean) => void;
}

/** The number of rows that are rendered at first, and of those that are added when the list is scrolled up. */
const pageRows = 80;
const loadAtPx = 800;
const endPx = 40;

/**
 * The end of the list is the place where its scrolling starts: the column is reversed. So older posts move nothing when
 * they are added, and only as many rows are rendered as were scrolled to.
 */
export const PostList = memo((props: PostListProps) => {
  const { store, posts, outgoing, reading, editing, onEdit, onDelete, onSeeEnd } = props;
  const { line = '', seen, see } = reading;
  const { viewer } = useChat();
  const scroller = useRef<HTMLDivElement>(null);
  const [isAtEnd, setIsAtEnd] = useState(true);
  const isLoading = useRef(false);
  const unread = posts.filter((post) => positionOf(post) > line && post.author.id !== viewer.id);
  const unseen = unread.filter((post) => positionOf(post) > seen).length;
  const firstUnread = unread[0]?.id;
  const rows = useMemo(() => toRows(posts, firstUnread), [posts, firstUnread]);
  const [limit, setLimit] = useState(() => pageRows + rows.toReversed().findIndex(({ kind }) => kind === 'new'));

  const look = useCallback(() => {
    const { current: list } = scroller;
    if (!list) return;
    const isEnd = list.scrollTop > -endPx;
    const isVisible = document.visibilityState === 'visible';
    setIsAtEnd(isEnd);
    onSeeEnd(isEnd && isVisible);
    const lastId = isVisible ? findLastVisible(list) : undefined;
    see(
      posts.find(({ id }) => id === lastId),
      isEnd && isVisible,
    );
    if (list.scrollHeight - list.clientHeight + list.scrollTop > loadAtPx || isLoading.current) return;
    const addPage = () => setLimit((count) => count + pageRows);
    if (limit < rows.length) return addPage();
    if (!store.get().hasOlder) return;
    isLoading.current = true;
    const end = () => {
      isLoading.current = false;
    };
    store.loadOlder().then(addPage).then(end, end);
  }, [store, posts, rows, limit, see, onSeeEnd]);

  function handleScroll() {
    look();
    if (limit > 3 * pageRows && scroller.current?.scrollTop === 0) setLimit(pageRows);
  }

  // The room opens where the viewer has stopped reading.
  useLayoutEffect(() => {
    scroller.current?.querySelector('.new')?.scrollIntoView({ block: 'start' });
  }, []);
  useLayoutEffect(look);
  useEffect(() => {
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [look]);
  // What the viewer writes is always visible.
  const lastKey = outgoing.at(-1)?.key;
  useLayoutEffect(() => {
    if (lastKey) scroller.current?.scrollTo({ top: 0 });
  }, [lastKey]);

  return (
    <div className="posts-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it. */}
      <div ref={scroller} role="log" aria-label="Messages" tabIndex={0} onScroll={handleScroll} onKeyDown={moveFocus}>
        <ol>
          {rows.slice(-limit).map((row) =>
            row.kind === 'post' ? (
              <PostView
                key={row.key}
                post={row.post}
                isFirst={row.isFirst}
                isEditing={row.key === editing}
                onEdit={onEdit}
                onDelete={onDelete}
              />
            ) : (
              <li key={row.key} className={row.kind}>
                {row.text}
              </li>
            ),
          )}
          {outgoing.map((entry) => (
            <OutgoingPost key={entry.key} entry={entry} />
          ))}
        </ol>
      </div>
      {!isAtEnd && (
        <Button className="to-end" onClick={() => scroller.current?.scrollTo({ top: 0 })}>
          {unseen > 0 ? `${unseen} new ${unseen === 1 ? 'message' : 'messages'}` : 'Latest messages'}{' '}
          <Icon name="down" />
        </Button>
      )}
    </div>
  );
});

/** The id of the last post of which at least a line is visible. */
function findLastVisible(list: HTMLElement): string | undefined {
  const { bottom } = list.getBoundingClientRect();
  return [...list.querySelectorAll('li[id]')].findLast((item) => item.getBoundingClientRect().top < bottom - 16)?.id;
}

/** The arrow keys move the focus from post to post, and Tab to the buttons of the post. */
function moveFocus(event: KeyboardEvent<HTMLElement>) {
  const { key, currentTarget: list, target } = event;
  const items = [...list.querySelectorAll<HTMLElement>('li[id]')];
  const index = target === list ? items.length : items.indexOf(target as HTMLElement);
  const next = items[index + (key === 'ArrowUp' ? -1 : 1)];
  if (!['ArrowUp', 'ArrowDown'].includes(key) || index < 0 || !next) return;
  event.preventDefault();
  next.focus();
}
