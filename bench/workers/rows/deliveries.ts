import { availableParallelism } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { LoadProcess } from '../../fan-out/load-process.ts';
import { eventQuery } from '../../fan-out/scenario.ts';
import { createPost, createRoom, signUp } from '../../support/accounts.ts';
import { Postroom } from '../../support/postroom.ts';
import { clientPortsOf, cpuMicrosOf } from '../../support/processes.ts';
import { measureInTurn } from '../../support/rounds.ts';
import type { TableWithTargets } from '../../support/table.ts';
import type { Run } from '../run.ts';
import { describeWork, measureWork, ratesRatio, shareOfLeast, type Work } from '../work.ts';

/** Of several that are committed at the same time, a process sends the events together. */
const concurrentPosts = [1, 16];
const timeoutMs = 30_000;
const settleMs = 200;
const body =
  'A body of some length, as people write them to each other in a room: two lines on a phone, one on a desk.';

/** Events of one room as fast as all its subscribers receive them. */
export async function deliveries({ counts, rounds, seconds, clients = 2_000 }: Run): Promise<TableWithTargets> {
  const audiences: Audience[] = [];
  try {
    for (const workers of counts) audiences.push(await Audience.start(workers, clients));
    const kinds = concurrentPosts.flatMap((posts) =>
      audiences.map((audience, index) => ({ posts, audience, workers: counts[index] ?? 1 })),
    );
    const samples = await measureInTurn(kinds, { rounds, warmUpRounds: 2 }, ({ audience, posts }) =>
      audience.measure(seconds, posts),
    );
    const ofOne = (posts: number) => samples[kinds.findIndex((kind) => kind.posts === posts)] ?? [];
    return {
      title: 'Deliveries',
      about: `Events of a room with ${clients} subscribers. The next posts are created when all subscribers have received the ones before. The load generator has ${availableParallelism()} processes.`,
      rows: kinds.map(({ posts, workers, audience }, index) => ({
        'posts at a time': String(posts),
        WORKERS: String(workers),
        ...describeWork(samples[index] ?? [], ofOne(posts)),
        'fewest subscribers of a worker ÷ fair': audience.shareOfLeast.toFixed(2),
      })),
      targets: kinds.flatMap(({ posts, workers }, index) => {
        const ratios = ratesRatio(samples[index] ?? [], ofOne(posts));
        const name = `deliveries/s, posts at a time: ${posts}, ${workers} ÷ 1`;
        return workers === 1 ? [] : [{ name, ratios, atLeast: 0.8 * workers }];
      }),
    };
  } finally {
    for (const each of audiences) await each.stop();
  }
}

/** A room, its subscribers, and its author. */
class Audience {
  readonly #postroom: Postroom;
  readonly #loads: readonly LoadProcess[];
  readonly #sizes: readonly number[];
  #token = '';
  #room = '';
  shareOfLeast = Number.NaN;

  private constructor(postroom: Postroom, clients: number) {
    this.#postroom = postroom;
    this.#loads = Array.from({ length: availableParallelism() }, () => new LoadProcess());
    this.#sizes = this.#loads.map((_, index) => Math.floor((clients + index) / this.#loads.length));
  }

  static async start(workers: number, clients: number): Promise<Audience> {
    const audience = new Audience(await Postroom.start({ workers }), clients);
    await audience.#connect();
    return audience;
  }

  measure(seconds: number, posts: number): Promise<Work> {
    return measureWork(this.#postroom, async () => {
      const clients = this.#sizes.reduce((sum, size) => sum + size, 0);
      const before = this.#loads.map(({ pid }) => cpuMicrosOf(pid));
      const startedAt = performance.now();
      const events = await this.#publish(seconds, posts);
      return {
        units: events * clients,
        seconds: (performance.now() - startedAt) / 1_000,
        loadMicros: this.#loads.reduce((sum, { pid }, index) => sum + cpuMicrosOf(pid) - (before[index] ?? 0), 0),
      };
    });
  }

  async stop(): Promise<void> {
    for (const load of this.#loads) load.stop();
    await this.#postroom.stop();
  }

  async #connect(): Promise<void> {
    const { port } = this.#postroom;
    this.#token = await signUp(port);
    this.#room = await createRoom(port, this.#token);
    for (const [index, load] of this.#loads.entries()) {
      const subscription = { room: this.#room, query: eventQuery };
      await load.connect(
        port,
        Array.from({ length: this.#sizes[index] ?? 0 }, () => subscription),
      );
      await load.count(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    }
    this.shareOfLeast = shareOfLeast(clientPortsOf(this.#postroom.workers, port).map(({ length }) => length));
    const isLive = async () => (await this.#reports()).every(({ fewest }) => fewest > 0);
    while (!(await isLive())) {
      await this.#createPost();
      await wait(settleMs);
    }
    await wait(settleMs);
  }

  /** Returns the number of events. @throws Error if a subscriber has not received each of them once. */
  async #publish(seconds: number, posts: number): Promise<number> {
    for (const [index, load] of this.#loads.entries())
      await load.count((this.#sizes[index] ?? 0) * posts, Number.MAX_SAFE_INTEGER);
    const end = performance.now() + seconds * 1_000;
    let events = 0;
    while (performance.now() < end) {
      const received = this.#loads.map((load) => load.step(AbortSignal.timeout(timeoutMs)));
      await Promise.all(Array.from({ length: posts }, () => this.#createPost()));
      await Promise.all(received);
      events += posts;
    }
    for (const { fewest, most } of await this.#reports())
      if (fewest !== events || most !== events) throw new Error(`${fewest} to ${most} of ${events} events arrived`);
    return events;
  }

  async #reports() {
    const reports = await Promise.all(this.#loads.map((load) => load.report()));
    const failures = reports.flatMap((report) => report.failures);
    if (failures.length > 0) throw new Error(failures.join('; '));
    return reports;
  }

  #createPost(): Promise<void> {
    return createPost(this.#postroom.port, this.#token, { room: this.#room, title: 'Event', body });
  }
}
