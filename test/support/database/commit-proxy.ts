import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * What happens to the COMMIT:
 *
 * - `unanswered`: the server receives it, and the client loses its connection instead of receiving the answer.
 * - `unknown`: the same, and from then on the client cannot connect.
 * - `failed`: the server executes it, and the client receives an error instead of the answer.
 * - `dropped`: the server never receives it, and both lose the connection.
 * - `held`: the server never receives it, and both connections stay open until `cut`.
 */
export type CommitFault = 'unanswered' | 'unknown' | 'failed' | 'dropped' | 'held';

/** A proxy to a PostgreSQL server that interferes with one COMMIT. */
export class CommitProxy {
  /** Resolves when the COMMIT has arrived at the proxy. */
  readonly arrived: Promise<void>;
  /** The COMMITs that have arrived; `alone`: without a statement in their packet. */
  readonly commits = { all: 0, alone: 0 };
  readonly #arrive: () => void;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#join(client));
  readonly #target: URL;
  #fault: CommitFault | undefined;
  #ignored = 0;

  private constructor(target: string) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.arrived = promise;
    this.#arrive = resolve;
    this.#target = new URL(target);
  }

  static async start(target: string): Promise<CommitProxy> {
    const proxy = new CommitProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** The URL of the database through the proxy. */
  get url(): string {
    const url = new URL(this.#target);
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  /** From now on, waits for a COMMIT; the first `ignored` ones pass. */
  arm(fault: CommitFault, { ignored = 0 } = {}): void {
    this.#fault = fault;
    this.#ignored = ignored;
  }

  /** Resets all connections; new ones are accepted. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }

  #join(client: Socket): void {
    const server = connect(Number(this.#target.port), this.#target.hostname);
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true).on('error', () => {});
    }
    let isSilent = false;
    let isFailing = false;
    const isCommit = createCommitFinder();
    client.on('data', (bytes) => {
      const fault = isCommit(bytes) ? this.#takeCommit(bytes) : undefined;
      if (fault === 'failed') isFailing = true;
      else if (fault) isSilent = true;
      if (fault !== 'dropped' && fault !== 'held') server.write(bytes);
      if (fault === 'dropped') server.destroy();
      if (fault === 'unknown') this.#server.close();
      if (fault && fault !== 'held' && fault !== 'failed') client.destroy();
    });
    server.on('data', (bytes) => {
      if (!isSilent) client.write(isFailing ? withFailedCommit(bytes) : bytes);
    });
    server.on('close', () => client.destroy());
    client.on('close', () => server.end());
  }

  #takeCommit(bytes: Buffer): CommitFault | undefined {
    this.commits.all += 1;
    this.commits.alone += Number(bytes.length <= maxCommitBytes);
    if (this.#ignored > 0) {
      this.#ignored -= 1;
      return undefined;
    }
    const fault = this.#fault;
    this.#fault = undefined;
    if (fault) this.#arrive();
    return fault;
  }
}

/** The length of a COMMIT, which is sent by its name, and of the messages that execute it. */
const maxCommitBytes = 60;

/** Finds the COMMITs of one connection: the first has its text, and later ones have the name under which it was prepared. */
function createCommitFinder(): (bytes: Buffer) => boolean {
  let prepared: string | undefined;
  return (bytes) => {
    const [, name] = /(\w+)\0commit\0/.exec(bytes.toString('latin1')) ?? [];
    prepared ??= name && `\0${name}\0`;
    return name !== undefined || (prepared !== undefined && bytes.includes(prepared));
  };
}

const committed = Buffer.from('C\0\0\0\x0bCOMMIT\0');
const failed = Buffer.from('E\0\0\0\x1bSERROR\0C58030\0Mbroken\0\0');

/** Replaces the answer to a COMMIT by an error of the class "system error". */
function withFailedCommit(bytes: Buffer): Buffer {
  const at = bytes.indexOf(committed);
  return at < 0 ? bytes : Buffer.concat([bytes.subarray(0, at), failed, bytes.subarray(at + committed.length)]);
}
