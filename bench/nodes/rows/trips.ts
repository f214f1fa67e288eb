import type { TableWithTargets } from '../../support/table.ts';
import { withDatabase } from '../database.ts';
import { Network } from '../network.ts';
import { createWorld, Writer } from '../writer.ts';
import type { Run } from './run.ts';

const repeats = 50;

/** The packets from the program to the database for each kind of change, one change at a time. */
export function trips(_: Run): Promise<TableWithTargets> {
  return withDatabase(async (url) => {
    const viewer = await createWorld(url, repeats);
    const network = await Network.start(url, 0);
    const writer = await Writer.open(network.url, viewer);
    try {
      const counts = await countPackets(writer, network);
      return {
        title: 'Round trips',
        about: `Packets to the database per mutation, through a proxy that counts them; ${repeats} of each, one at a time.`,
        rows: Object.entries(counts).map(([mutation, count]) => ({ mutation, packets: count.toFixed(2) })),
        targets: Object.entries(counts).map(([name, count]) => ({ name, ratios: [count], atMost: 2 })),
      };
    } finally {
      await writer.close();
      network.stop();
    }
  });
}

async function countPackets(writer: Writer, network: Network): Promise<Record<string, number>> {
  const rooms = Array.from({ length: repeats }, (_, index) => String(index + 1));
  // The first changes open connections and prepare statements.
  const posts: string[] = [];
  const warmUp = await writer.createPost('1');
  await writer.change('updatePost', { id: warmUp, title: 'before' });
  await writer.change('deletePost', { id: warmUp });
  const count = async <Item>(items: readonly Item[], change: (item: Item) => Promise<unknown>): Promise<number> => {
    await network.takeCount();
    for (const item of items) await change(item);
    return (await network.takeCount()) / items.length;
  };
  return {
    createPost: await count(rooms, async (room) => posts.push(await writer.createPost(room))),
    updatePost: await count(posts, async (id) => (await writer.change('updatePost', { id, title: 'changed' })).post),
    deletePost: await count(posts, (id) => writer.change('deletePost', { id })),
    joinRoom: await count(rooms, (room) => writer.change('joinRoom', { room })),
    leaveRoom: await count(rooms, (room) => writer.change('leaveRoom', { room })),
  };
}
