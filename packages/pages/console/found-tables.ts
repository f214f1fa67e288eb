import type { ConsoleClient } from './client.ts';
import { formatTime } from './format.ts';
import { type ModerationAction, postActions, roomActions, userActions } from './moderation-actions.ts';
import type { FoundPost, FoundRoom, FoundUser } from './operations.ts';
import { searchPosts, searchRooms, searchUsers } from './search.ts';
import type { Column } from './table.ts';

/** What a kind of search finds, and what an admin can do with it. */
export interface FoundTable<Row> {
  /** Of the table; that of the element around it has `-region` after it. */
  id: string;
  columns: readonly Column<Row>[];
  actions: readonly ModerationAction<Row>[];
  search: (client: ConsoleClient, text: string) => Promise<Row[]>;
}

const idColumn = { title: 'Id', text: ({ id }: { id: string }) => id, isLong: true } as const;

export const userTable: FoundTable<FoundUser> = {
  id: 'found-users',
  columns: [
    { title: 'Name', text: ({ name }) => name },
    { title: 'E-mail', text: ({ email }) => email ?? '–', isLong: true },
    { title: 'Role', text: ({ role }) => (role === 'ADMIN' ? 'admin' : 'member') },
    { title: 'Created', text: ({ createdAt }) => formatTime(createdAt) },
    idColumn,
  ],
  actions: userActions,
  search: searchUsers,
};

export const roomTable: FoundTable<FoundRoom> = {
  id: 'found-rooms',
  columns: [
    { title: 'Name', text: ({ name }) => name },
    { title: 'Visibility', text: ({ visibility }) => visibility.toLowerCase() },
    { title: 'Owner', text: ({ owner }) => owner?.name ?? '–' },
    { title: 'Created', text: ({ createdAt }) => formatTime(createdAt) },
    idColumn,
  ],
  actions: roomActions,
  search: searchRooms,
};

export const postTable: FoundTable<FoundPost> = {
  id: 'found-posts',
  columns: [
    { title: 'Title', text: ({ title }) => title },
    { title: 'Author', text: ({ author }) => author.name },
    { title: 'Room', text: ({ room }) => room.name },
    { title: 'Published', text: ({ publishedAt }) => (publishedAt === null ? '–' : formatTime(publishedAt)) },
    idColumn,
  ],
  actions: postActions,
  search: searchPosts,
};
