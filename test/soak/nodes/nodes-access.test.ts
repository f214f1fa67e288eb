import { expect, it } from 'vitest';
import { canDeploy, type Deployment, deploy, skipNote } from '../../support/chaos/deployment.ts';
import type { ChaosNode } from '../../support/chaos/node.ts';
import { ProtocolSocket } from '../../support/clients/protocol-socket.ts';
import { query } from '../../support/database/postgres-query.ts';
import { seqOf } from '../../support/rooms/cursors.ts';

const rounds = 10;
const streamCount = 5;
const maxMs = 2_000;

/** The number of the event that a member of the room was removed. */
async function findRemoval({ databaseUrl }: Deployment, room: string, after: number): Promise<number> {
  const sql = `select seq::int as seq from "roomEvents" where "roomId" = $1 and type = 'MemberLeft' and seq > $2`;
  const [row] = await query<{ seq: number }>(databaseUrl, sql, [room, after]);
  if (!row) throw new Error('The log has no such event.');
  return row.seq;
}

it.skipIf(!canDeploy).for([
  { name: 'the bus', isBusUp: true },
  { name: 'no bus', isBusUp: false },
])(
  `streams of one node end when another node revokes the membership, and no later event passes, with $name${skipNote}`,
  async ({ isBusUp }, { annotate }) => {
    const deployment = await deploy({ nodes: 2, withRedis: true });
    const [near, far] = deployment.nodes as [ChaosNode, ChaosNode];
    if (!isBusUp) for (const { links } of deployment.nodes) links.redis?.retarget('http://127.0.0.1:1');
    const [ada, bob] = [await near.postroom.signUp('Ada'), await near.postroom.signUp('Bob')];
    const create = 'mutation { createRoom(input: { name: "den", visibility: PRIVATE }) { room { id } } }';
    const room: string = (await near.postroom.ask(create, {}, ada.token)).createRoom.room.id;
    const change = (name: string) =>
      near.postroom.ask(
        `mutation { ${name}(input: { room: "${room}", user: "${bob.id}" }) { room { id } } }`,
        {},
        ada.token,
      );
    const tookMs: number[] = [];
    const changeMs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await change('addRoomMember');
      const open = async () => {
        const init = { authorization: `Bearer ${bob.token}` };
        const socket = await ProtocolSocket.open(far.postroom.webSocketUrl, { init });
        const from = seqOf(await socket.follow('1', `subscription { roomEvents(room: "${room}") { cursor } }`));
        return { socket, from };
      };
      const streams = await Promise.all(Array.from({ length: streamCount }, open));
      let isOver = false;
      const writing = (async () => {
        while (!isOver) await near.postroom.createPost(ada, room, 'said');
      })();
      for (const { socket } of streams) await socket.take(({ type }) => type === 'next');
      const sentAt = performance.now();
      await change('removeRoomMember');
      const removedAt = performance.now();
      changeMs.push(removedAt - sentAt);
      for (const { socket } of streams) {
        const { payload } = await socket.take(({ type }) => type === 'error');
        expect(payload).toMatchObject([{ extensions: { code: 'MEMBERSHIP_REVOKED' } }]);
      }
      tookMs.push(performance.now() - removedAt);
      isOver = true;
      await writing;
      for (const { socket, from } of streams) {
        const seqs = socket.nexts('1').map(({ data }) => seqOf(data.roomEvents.cursor));
        expect(Math.max(...seqs)).toBeLessThanOrEqual(await findRemoval(deployment, room, from));
        socket.webSocket.terminate();
      }
    }
    const worst = Math.max(...tookMs);
    await annotate(`ended after ${worst.toFixed(0)} ms at most`);
    // How long the removal itself takes says how slow the machine is.
    expect(worst).toBeLessThan(maxMs + 10 * Math.max(...changeMs));
  },
);
