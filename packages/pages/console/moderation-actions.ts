import { failureOf } from '../../client/src/failure.ts';
import type { ConsoleClient } from './client.ts';
import { confirmAction } from './confirm-dialog.ts';
import { formatTime } from './format.ts';
import { askMute } from './mute-dialog.ts';
import {
  deletePost,
  deleteRoom,
  deleteUser,
  endConnection,
  type FoundPost,
  type FoundRoom,
  type FoundUser,
  listConnections,
  muteUser,
} from './operations.ts';
import { findRoomOrThrow } from './search.ts';

export interface ModerationAction<Row> {
  /** The text of its button, with which `describe` begins. */
  title: string;
  /** Such as `delete the room hall`. */
  describe: (row: Row) => string;
  /** Asks the operator. Returns what was done, or undefined if the operator cancelled. */
  run: (client: ConsoleClient, row: Row) => Promise<string | undefined>;
}

export const userActions: readonly ModerationAction<FoundUser>[] = [
  {
    title: 'Mute',
    describe: ({ name }) => `mute ${name}`,
    run: (client, user) => mute(client, user),
  },
  {
    title: 'End connections',
    describe: ({ name }) => `end connections of ${name}`,
    async run(client, { id, name }) {
      const text = `End all connections of ${name}? Clients may connect again.`;
      if (!(await confirmAction({ text, verb: 'End connections' }))) return undefined;
      return `Ended ${await endConnectionsOf(client, id)} connections of ${name}.`;
    },
  },
  {
    title: 'Delete',
    describe: ({ name }) => `delete the account of ${name}`,
    async run(client, { id, name, email }) {
      const text = `Delete the account of ${name}${email === null ? '' : `, ${email}`}? This cannot be undone.`;
      const answer = await confirmAction({ text, verb: 'Delete account', option: 'Delete the published posts, too' });
      if (!answer) return undefined;
      await client.post(deleteUser, { input: { id, deletePosts: answer.isChosen } });
      return `Deleted the account of ${name}.`;
    },
  },
];

export const roomActions: readonly ModerationAction<FoundRoom>[] = [
  {
    title: 'Delete',
    describe: ({ name }) => `delete the room ${name}`,
    async run(client, { id, name }) {
      const text = `Delete the room ${name} with all its posts? This cannot be undone.`;
      if (!(await confirmAction({ text, verb: 'Delete room' }))) return undefined;
      await client.post(deleteRoom, { input: { id } });
      return `Deleted the room ${name}.`;
    },
  },
];

export const postActions: readonly ModerationAction<FoundPost>[] = [
  {
    title: 'Mute author',
    describe: ({ author, room }) => `mute author ${author.name} in ${room.name}`,
    run: (client, { author, room }) => mute(client, author, room.id),
  },
  {
    title: 'Delete',
    describe: ({ title }) => `delete the post ${title}`,
    async run(client, { id, title, author, room }) {
      const text = `Delete the post ${title} of ${author.name} in ${room.name}? This cannot be undone.`;
      if (!(await confirmAction({ text, verb: 'Delete post' }))) return undefined;
      await client.post(deletePost, { input: { id } });
      return `Deleted the post ${title}.`;
    },
  },
];

async function mute(client: ConsoleClient, user: { id: string; name: string }, givenRoom?: string) {
  const answer = await askMute(user.name, givenRoom);
  if (!answer) return undefined;
  const room = await findRoomOrThrow(client, answer.room);
  const input = { user: user.id, room: room.id, until: answer.until };
  const { until } = (await client.post(muteUser, { input })).muteUser;
  if (until === null) return `${user.name} is not muted in ${room.name}.`;
  return `Muted ${user.name} in ${room.name} until ${formatTime(until)}.`;
}

/** Returns the number of connections that it ended. */
async function endConnectionsOf(client: ConsoleClient, viewer: string): Promise<number> {
  let ended = 0;
  for (const id of await listConnectionsOf(client, viewer)) {
    try {
      await client.post(endConnection, { input: { id } });
      ended += 1;
    } catch (error) {
      const { code, message } = failureOf(error);
      if (code !== 'NOT_FOUND') throw new Error(`${message} ${ended} connections are ended.`);
    }
  }
  return ended;
}

async function listConnectionsOf(client: ConsoleClient, viewer: string): Promise<string[]> {
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const { connections } = await client.post(listConnections, { first: 100, after, filter: { viewer } });
    ids.push(...connections.nodes.map(({ id }) => id));
    after = (connections.pageInfo.hasNextPage && connections.pageInfo.endCursor) || undefined;
  } while (after !== undefined);
  return ids;
}
