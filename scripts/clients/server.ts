import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { useBundles } from '../../test/support/run/bundled-packages.ts';
import { Program } from '../cluster/program.ts';
import { findFreePort } from '../free-port.ts';
import { inRepository } from '../repository.ts';
import { startedLine } from '../started-line.ts';

/** The origin of the pages of clients, that of the development server of Vite. */
const pageOrigin = 'http://localhost:5173';

/** Clients run all their checks from one address. */
const generous = { RATE_LIMIT: '100000', SIGN_IN_ATTEMPTS: '100000', DRAIN_SECONDS: '0' };

/** The built server on a database of its own, which keeps its port through restarts. */
export class Server {
  readonly url: string;
  readonly #settings: Record<string, string>;
  #program: Program;
  #isReady: Promise<unknown>;

  private constructor(folder: string, port: number, settings: Record<string, string>) {
    this.url = `http://127.0.0.1:${port}/graphql`;
    const DATABASE_URL = `sqlite:${join(folder, 'postroom.db')}`;
    this.#settings = { ...generous, ALLOWED_ORIGINS: pageOrigin, DATABASE_URL, PORT: String(port), ...settings };
    this.#program = this.#start();
    this.#isReady = this.#program.ready;
  }

  static async start(folder: string, settings: Record<string, string> = {}): Promise<Server> {
    const server = new Server(folder, await findFreePort(), settings);
    await server.ready;
    return server;
  }

  /** Resolves when the server accepts requests, after the restart if one has begun. */
  get ready(): Promise<unknown> {
    return this.#isReady;
  }

  restart(signal: NodeJS.Signals): Promise<unknown> {
    this.#isReady = this.#program.stop(signal).then(() => {
      this.#program = this.#start();
      return this.#program.ready;
    });
    return this.#isReady;
  }

  async stop(): Promise<void> {
    await this.#program.stop();
  }

  #start(): Program {
    // The tests have bundled the packages with the most files, which halves the processor time of a start.
    const bundles = existsSync(useBundles) ? [`--import=${useBundles}`] : [];
    const options = ['--max-semi-space-size=32', ...bundles];
    const args = [...options, inRepository('dist/main.js'), 'serve'];
    const program = new Program('Postroom', process.execPath, args, {
      env: { PATH: process.env['PATH'], ...this.#settings },
      ready: startedLine,
      stopSignal: 'SIGTERM',
    });
    const kill = () => program.kill();
    process.once('exit', kill);
    void program.exited.then(() => process.off('exit', kill));
    return program;
  }
}
