import { Room } from './api.ts';
import { Follower } from './follower.ts';
import type { Server } from './server.ts';

/** Each in three parts: while the client is subscribed, while the server restarts, and before the client is back. */
const postsPerRestart = 30;

export interface Delivery {
  events: number;
  lost: number;
  repeated: number;
  inOrder: boolean;
}

/** Counts what a client receives of the posts of a room while the server is restarted. */
export async function followThroughRestarts(
  server: Server,
  folder: string,
  script: string,
  restarts: number,
): Promise<Delivery> {
  const room = await Room.create(server);
  const follower = new Follower(folder, script, { POSTROOM_URL: server.url, TOKEN: room.token, ROOM: room.id });
  try {
    await follower.ready();
    const titles = Array.from({ length: restarts * postsPerRestart }, (_, index) => `post ${index + 1}`);
    for (let restart = 0; restart < restarts; restart += 1) {
      const signal = restart % 2 === 0 ? 'SIGTERM' : 'SIGKILL';
      const from = restart * postsPerRestart;
      await postDuringRestart(server, room, signal, titles.slice(from, from + postsPerRestart));
      await follower.received(titles[from + postsPerRestart - 1] ?? '');
    }
    await follower.stop();
    return compare(titles, follower.titles);
  } finally {
    await follower.stop();
  }
}

async function postDuringRestart(server: Server, room: Room, signal: NodeJS.Signals, titles: string[]): Promise<void> {
  const third = titles.length / 3;
  for (const title of titles.slice(0, third)) await room.post(title);
  const restarted = server.restart(signal);
  for (const title of titles.slice(third)) await room.post(title);
  await restarted;
}

function compare(sent: string[], received: string[]): Delivery {
  const first = [...new Set(received)];
  return {
    events: received.length,
    lost: sent.filter((title) => !first.includes(title)).length,
    repeated: received.length - first.length,
    inOrder: first.join() === sent.filter((title) => first.includes(title)).join(),
  };
}
