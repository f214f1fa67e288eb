import type { Post } from '@postroom/client';
import { formatDay } from './times.ts';

/** What the list of posts shows, from top to bottom. `isFirst`: the post begins a group of posts by its author. */
export type Row = { key: string } & (
  | { kind: 'day' | 'new'; text: string }
  | { kind: 'post'; post: Post; isFirst: boolean }
);

const maxPauseMs = 5 * 60_000;

/** `firstUnread`: the id of the post that follows the line "new". */
export function toRows(posts: readonly Post[], firstUnread?: string): Row[] {
  const rows: Row[] = [];
  let last = { author: '', at: 0, day: '' };
  for (const post of posts) {
    const date = new Date(post.publishedAt);
    const next = { author: post.author.id, at: date.getTime(), day: date.toDateString() };
    if (next.day !== last.day) rows.push({ kind: 'day', key: next.day, text: formatDay(date) });
    if (post.id === firstUnread) rows.push({ kind: 'new', key: 'new', text: 'New' });
    const isGroup = next.author === last.author && next.at - last.at < maxPauseMs && rows.at(-1)?.kind === 'post';
    rows.push({ kind: 'post', key: post.id, post, isFirst: !isGroup });
    last = next;
  }
  return rows;
}
