import { expect, it, onTestFinished } from 'vitest';
import { canDeploy, deploy, skipNote } from '../../support/chaos/deployment.ts';
import type { ChaosNode } from '../../support/chaos/node.ts';
import { findFaults } from '../../support/inbox/inbox-check.ts';
import { Device } from '../../support/inbox/inbox-device.ts';
import { Traffic } from '../../support/inbox/inbox-traffic.ts';
import { createRandom } from '../../support/rooms/unreliable-bus.ts';
import type { Person, Postroom } from '../../support/server/postroom.ts';

const roomCount = 300;
const eventCount = 10_000;
const cutCount = 20;
const changeCount = 120;
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);

interface Proof {
  postroom: () => Postroom;
  viewer: Person;
  traffic: Traffic;
  devices: Device[];
  /** Runs in the middle. */
  interrupt?: () => Promise<void>;
}

function openDevice(graphqlUrl: string, viewer: Person): Promise<Device> {
  return Device.open(graphqlUrl, viewer, (close) => onTestFinished(close));
}

/** Cuts the connections, changes memberships and posts at the same time, then compares what has arrived with the log. */
async function prove({ postroom, viewer, traffic, devices, interrupt }: Proof): Promise<void> {
  traffic.follow(devices);
  await traffic.post(eventCount, changeCount, async (step) => {
    const isCut = step % (changeCount / cutCount) === 0;
    // What had ended before the change of this step cannot be lost with the connections.
    if (isCut) await traffic.untilTold();
    await traffic.changeMembership();
    if (isCut) for (const device of devices) device.cut();
    if (step === changeCount / 2) await interrupt?.();
  });
  await traffic.untilTold();
  await traffic.finish();
  const last = [...traffic.rooms.values()].filter(({ isDeleted }) => !isDeleted);
  for (const device of devices) {
    for (const room of last.filter((room) => traffic.isJoined(room))) {
      await device.until(() => device.rooms.get(room.id)?.at(-1)?.title === room.titles.at(-1));
    }
    expect(await findFaults(postroom(), viewer, device, traffic.rooms.values())).toEqual([]);
    expect(device.count).toBeGreaterThan(eventCount / 2);
  }
}

it.skipIf(!canDeploy)(
  `an inbox of ${roomCount} rooms on two nodes, of which one is killed, loses and repeats no event through ${cutCount} disconnections, joins, leaves and deletions (seed ${seed})${skipNote}`,
  async () => {
    const { nodes } = await deploy({ nodes: 2, withRedis: true });
    const [near, far] = nodes as [ChaosNode, ChaosNode];
    const postroom = () => far.postroom;
    const viewer = await far.postroom.signUp('Vera');
    const traffic = await Traffic.open({ postroom, viewer, rooms: roomCount, random: createRandom(seed) });
    const ofNear = await openDevice(near.postroom.graphqlUrl, viewer);
    const ofFar = await openDevice(far.postroom.graphqlUrl, viewer);
    const interrupt = async () => {
      await near.kill();
      ofNear.moveTo(far.postroom.graphqlUrl);
    };
    await prove({ postroom, viewer, traffic, devices: [ofNear, ofFar], interrupt });
  },
);
