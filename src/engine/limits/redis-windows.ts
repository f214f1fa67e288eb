import { hash } from 'node:crypto';
import { createRedisClient } from '../../common/redis-client.ts';
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
  #client: Client | undefined;
  #charges: Charge[] = [];
  /** Undefined until the first attempt to connect. */
  #isUp: boolean | undefined;
  #isConnecting = false;

  private constructor(options: RedisWindowsOptions) {
    this.#options = options;
    this.#retry = setInterval(() => void this.#recover(), retryMs).unref();
  }

  /** Tries to connect once; later it connects by itself. */
  static async open(options: RedisWindowsOptions): Promise<RedisWindows> {
    const windows = new RedisWindows(options);
    await windows.#recover();
    return windows;
  }

  /** Whether Redis answers. If it does not, the charges of this node alone decide. */
  get isUp(): boolean {
    return this.#isUp === true;
  }

  /** Counts a charge. Never rejects; undefined if there is no answer in time. */
  charge(key: string): Promise<SharedCount | undefined> {
    return new Promise((answer) => {
      if (this.#charges.push({ key, answer }) === 1) setImmediate(() => this.#flush());
    });
  }

  close(): void {
    clearInterval(this.#retry);
    this.#isUp = false;
    this.#disconnect();
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
    if (!this.isUp) return answer();
    const keys = charges.map(({ key }) => key);
    within(answerMs, this.#send(keys, '1')).then(answer, (error: unknown) => {
      answer();
      this.#fail(reasonOf(error));
    });
  }

  async #send(keys: readonly string[], points: string): Promise<number[]> {
    const client = this.#client;
    if (!client) throw new Error('not connected');
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

  /** Connects again if necessary, and uses Redis again after it has answered a probe in time. */
  async #recover(): Promise<void> {
    if (this.isUp || this.#isConnecting) return;
    this.#isConnecting = true;
    try {
      if (!this.#client) await within(connectMs, this.#connect());
      await within(answerMs, this.#send(['probe'], '0'));
      if (this.#isUp === false) this.#options.log.warn('Redis answers again: all nodes share the rate of operations');
      this.#isUp = true;
    } catch (error) {
      // The connection may be half open.
      this.#disconnect();
      this.#fail(reasonOf(error));
    } finally {
      this.#isConnecting = false;
    }
  }

  async #connect(): Promise<void> {
    const client = createRedisClient(this.#options.url, 'postroom-rate');
    this.#client = client;
    const onLost = (error?: Error) => {
      if (this.#client !== client) return;
      this.#disconnect();
      if (this.isUp) this.#fail(error ? reasonOf(error) : 'the connection was closed');
    };
    client.on('error', onLost);
    client.on('end', onLost);
    await client.connect();
  }

  #disconnect(): void {
    const client = this.#client;
    this.#client = undefined;
    if (client?.isOpen) client.destroy();
  }

  #fail(reason: string): void {
    if (this.#isUp === false) return;
    this.#isUp = false;
    this.#options.log.warn({ reason }, 'Redis does not answer: each node counts the rate of operations by itself');
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const refuse = () => reject(new Error(`no answer within ${ms} ms`));
  // An answer that has arrived is read before `setImmediate`, also if this process was busy when the time was over.
  const timer = setTimeout(() => setImmediate(refuse), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Neither the messages nor the codes contain the password. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || String('code' in error ? error.code : error.name);
}
