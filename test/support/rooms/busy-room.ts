import { Client } from 'pg';
import { expect, onTestFinished } from 'vitest';
import { grantAdmin, type Person, type Postroom, type Reply } from '../server/postroom.ts';

/** A room in which as many changes run as may run at the same time on one node, so that further ones wait. */
export class BusyRoom {
  readonly ada: Person;
  readonly room: string;
  readonly #postroom: Postroom;
  readonly #blocked: BlockedPost[];

  private constructor(
    postroom: Postroom,
    { ada, room, blocked }: { ada: Person; room: string; blocked: BlockedPost[] },
  ) {
    this.#postroom = postroom;
    this.ada = ada;
    this.room = room;
    this.#blocked = blocked;
  }

  /** `databaseUrl`: of the database of `postroom`. */
  static async open(postroom: Postroom, databaseUrl: string): Promise<BusyRoom> {
    const ada = await postroom.signUp('Ada');
    await grantAdmin({ DATABASE_URL: databaseUrl }, ada);
    const room = await postroom.createRoom(ada, 'hall');
    const blocked = await Promise.all(
      ['Bob', 'Cleo'].map((name) => BlockedPost.start(postroom, { name, room, databaseUrl })),
    );
    return new BusyRoom(postroom, { ada, room, blocked });
  }

  /** Sends a mutation of Ada. */
  send(mutation: string): Promise<Reply> {
    return this.#postroom.send(`mutation { ${mutation} }`, {}, this.ada.token);
  }

  post(title: string): Promise<Reply> {
    return this.send(`createPost(input: { room: "${this.room}", title: "${title}" }) { post { title } }`);
  }

  /** Resolves when this number of changes wait. */
  async untilWaiting(count: number): Promise<void> {
    const readDepths = async () => {
      const query = '{ serverStatus { nodes { queues { name depth } } } }';
      const { serverStatus } = await this.#postroom.ask(query, {}, this.ada.token);
      return serverStatus.nodes[0].queues;
    };
    await expect.poll(readDepths).toContainEqual({ name: 'transactions', depth: count });
  }

  /** Lets the changes that wait continue. */
  async free(): Promise<void> {
    expect(await this.#blocked[0]?.unblock()).toMatchObject({ status: 200 });
  }

  /** The titles of all posts except the two that kept the room busy. */
  async readTitles(): Promise<string[]> {
    for (const post of this.#blocked) await post.unblock();
    const { posts } = await this.#postroom.ask('{ posts(limit: 100) { data { title } } }');
    const titles: string[] = posts.data.map(({ title }: { title: string }) => title);
    return titles.filter((title) => !title.startsWith('by ')).sort();
  }
}

/** A post that waits for the row of its author. */
class BlockedPost {
  readonly #client: Client;
  readonly #reply: Promise<Reply>;

  private constructor(client: Client, reply: Promise<Reply>) {
    this.#client = client;
    this.#reply = reply;
  }

  static async start(
    postroom: Postroom,
    { name, room, databaseUrl }: { name: string; room: string; databaseUrl: string },
  ): Promise<BlockedPost> {
    const author = await postroom.signUp(name);
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('begin');
    const { rows } = await client.query('select pg_backend_pid() as pid from users where id = $1 for update', [
      author.id,
    ]);
    const create = `mutation { createPost(input: { room: "${room}", title: "by ${name}" }) { post { id } } }`;
    const reply = postroom.send(create, {}, author.token);
    const countWaiting = async () => {
      const waiting = `select count(*)::int as count from pg_stat_activity where $1 = any(pg_blocking_pids(pid))`;
      return (await client.query(waiting, [rows[0].pid])).rows[0].count;
    };
    await expect.poll(countWaiting).toBe(1);
    return new BlockedPost(client, reply);
  }

  async unblock(): Promise<Reply> {
    await this.#client.query('rollback');
    return this.#reply;
  }
}
