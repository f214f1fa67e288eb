import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { reasonOf } from '../../common/reason-of.ts';
import { createRedisClient } from '../../common/redis-client.ts';
import { withinTime } from '../../common/within-time.ts';
import type { Log } from '../../log/log.ts';

/** After this time a charge is answered without Redis. */
const answerMs = 50;
/** How often a connection that failed is tried again. */
const retryMs = 250;
/** How long a connection may take to open. */
const connectMs = 2_000;

/**
 * Adds to the count of each key, and returns for each key its count and the time until its window ends. A window begins
 * with the first charge of its key. ARGV: the length of a window in milliseconds, and then the charges per key.
 */
const script = `
local result = {}
for index, key in ipairs(KEYS) do
  local charges = redis.call('INCRBY', key, ARGV[index + 1])
  local left = redis.call('PTTL', key)
  if left < 0 then
    left = tonumber(ARGV[1])
    redis.call('PEXPIRE', key, left)
  end
  result[2 * index - 1] = charges
  result[2 * index] = left
end
return result`;
const scriptHash = hash('sha1', script);

export interface RedisWindowsOptions {
  url: string;
  windowSeconds: number;
  /** Keys begin with it, so that several installations can share a server. */
  prefix: string;
  log: Pick<Log, 'warn'>;
}

/** The window of one key after a charge. */
export interface SharedCount {
  charges: number;
  /** The time until the window ends. */
  resetMs: number;
}

interface Charge {
  key: string;
  answer: (count: SharedCount | undefined) => void;
}

type Client = ReturnType<typeof createRedisClient>;

/**
 * Counts charges in Redis, for all nodes together. All charges of one turn of the event loop are sent as one command, which takes a fraction of
 * the time of a command per charge. After a failure, Redis is not used until it has answered a probe in time.
 */
export class RedisWindows {
  readonly #options: RedisWindowsOptions;
  readonly #retry: NodeJS.Timeout;
  /** The connection that answers. */
  #client: Client | undefined;
  /** A new connection that has not answered yet. */
  #opening: Client | undefined;
  #charges: Charge[] = [];
  /** Whether the log says that Redis does not answer. */
  #isReportedDown = false;

  private constructor(options: RedisWindowsOptions) {
    this.#options = options;
    this.#retry = setInterval(() => void this.#connect(), retryMs).unref();
  }

  /** Tries to connect once; later it connects by itself. */
  static async open(options: RedisWindowsOptions): Promise<RedisWindows> {
    const windows = new RedisWindows(options);
    await windows.#connect();
    return windows;
  }

  /** Whether Redis answers. If it does not, the charges of this node alone decide. */
  get isUp(): boolean {
    return this.#client !== undefined;
  }

  /** Counts a charge. Never rejects; undefined if there is no answer in time. */
  charge(key: string): Promise<SharedCount | undefined> {
    return new Promise((answer) => {
      if (this.#charges.push({ key, answer }) === 1) setImmediate(() => this.#flush());
    });
  }

  close(): void {
    clearInterval(this.#retry);
    this.#isReportedDown = true;
    for (const client of [this.#client, this.#opening]) if (client) this.#drop(client, 'closed');
  }

  #flush(): void {
    const charges = this.#charges;
    this.#charges = [];
    const answer = (results?: readonly number[]) => {
      charges.forEach((charge, index) => {
        charge.answer(
          results && { charges: results[2 * index] ?? 0, resetMs: Math.max(1, results[2 * index + 1] ?? 0) },
        );
      });
    };
    const client = this.#client;
    if (!client) return answer();
    const keys = charges.map(({ key }) => key);
    within(answerMs, this.#send(client, keys, '1')).then(answer, (error: unknown) => {
      answer();
      this.#drop(client, reasonOf(error));
    });
  }

  async #send(client: Client, keys: readonly string[], points: string): Promise<number[]> {
    const { prefix, windowSeconds } = this.#options;
    const parameters = [
      String(keys.length),
      ...keys.map((key) => prefix + key),
      String(windowSeconds * 1_000),
      ...keys.map(() => points),
    ];
    try {
      return await client.sendCommand<number[]>(['EVALSHA', scriptHash, ...parameters]);
    } catch (error) {
      if (!reasonOf(error).startsWith('NOSCRIPT')) throw error;
      return await client.sendCommand<number[]>(['EVAL', script, ...parameters]);
    }
  }

  /** Connects if necessary, and uses the connection after it has answered a probe in time. */
  async #connect(): Promise<void> {
    if (this.#client || this.#opening) return;
    let client: Client;
    try {
      client = this.#opening = createRedisClient(this.#options.url, 'postroom-rate');
    } catch (error) {
      return this.#reportDown(reasonOf(error));
    }
    const onLost = (error?: Error) => this.#drop(client, error ? reasonOf(error) : 'the connection was closed');
    client.on('error', onLost);
    client.on('end', onLost);
    try {
      await within(connectMs, client.connect());
      await within(answerMs, this.#send(client, ['probe'], '0'));
      if (this.#opening !== client) return;
      this.#client = client;
      this.#opening = undefined;
      if (this.#isReportedDown) this.#options.log.warn('Redis answers again: all nodes share the rate of operations');
      this.#isReportedDown = false;
    } catch (error) {
      this.#drop(client, reasonOf(error));
    }
  }

  /** Until another connection has answered, each node counts by itself. */
  #drop(client: Client, reason: string): void {
    if (client !== this.#client && client !== this.#opening) return;
    this.#client = this.#opening = undefined;
    if (client.isOpen) client.destroy();
    this.#reportDown(reason);
  }

  #reportDown(reason: string): void {
    if (this.#isReportedDown) return;
    this.#isReportedDown = true;
    this.#options.log.warn({ reason }, 'Redis does not answer: each node counts the rate of operations by itself');
  }
}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return withinTime(ms, work, async () => {
    // An answer that has arrived is read before, also if this process was busy when the time was over.
    await nextTurn();
    throw new Error(`no answer within ${ms} ms`);
  });
}
