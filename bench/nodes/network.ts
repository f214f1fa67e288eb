import { Worker } from '../support/worker.ts';
import type { ProxyCommand, ProxyReply } from './proxy.ts';

/** A network in front of a database, in its own process. */
export class Network {
  /** The database through the network. */
  readonly url: string;
  readonly #proxy: Worker<ProxyCommand, ProxyReply>;

  private constructor(url: string, proxy: Worker<ProxyCommand, ProxyReply>) {
    this.url = url;
    this.#proxy = proxy;
  }

  /** `delayMs` is the delay of each direction. */
  static async start(databaseUrl: string, delayMs: number): Promise<Network> {
    const url = new URL(databaseUrl);
    const proxy = new Worker<ProxyCommand, ProxyReply>(new URL('./proxy.ts', import.meta.url));
    const target = { host: url.hostname, port: Number(url.port || '5432') };
    const { port } = await proxy.send({ type: 'listen', ...target, delayMs });
    url.port = String(port);
    return new Network(url.href, proxy);
  }

  /** The number of packets that were sent to the database since the last call. */
  async takeCount(): Promise<number> {
    return (await this.#proxy.send({ type: 'count' })).packets;
  }

  stop(): void {
    this.#proxy.stop();
  }
}
