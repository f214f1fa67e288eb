import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { signalGroup, startNpm } from './npm.ts';

/** On a busy machine a browser takes some seconds to start. */
const timeoutMs = 60_000;

/** A client that follows a room and prints each event as a line of JSON. */
export class Follower {
  /** The titles of the posts that it received. */
  readonly titles: string[] = [];
  readonly #process: ChildProcess;
  readonly #errors: string[] = [];
  readonly #ended: Promise<never>;
  #isReady = false;
  #check: () => void = () => {};

  constructor(folder: string, script: string, settings: Record<string, string>) {
    this.#process = startNpm(folder, ['run', '--silent', script], settings);
    if (this.#process.stdout) createInterface(this.#process.stdout).on('line', (line) => this.#read(line));
    if (this.#process.stderr) createInterface(this.#process.stderr).on('line', (line) => this.#errors.push(line));
    this.#ended = once(this.#process, 'close').then(([status, signal]) => {
      throw new Error(`it ended (${signal ?? status})`);
    });
    this.#ended.catch(() => {});
  }

  /** Resolves when it is subscribed. */
  ready(): Promise<void> {
    return this.#until('it was not ready', () => this.#isReady);
  }

  received(title: string): Promise<void> {
    return this.#until(`it did not receive "${title}"`, () => this.titles.includes(title));
  }

  async stop(): Promise<void> {
    signalGroup(this.#process, 'SIGTERM');
    const killing = setTimeout(() => signalGroup(this.#process, 'SIGKILL'), 10_000);
    await this.#ended.catch(() => {});
    clearTimeout(killing);
  }

  #read(line: string): void {
    const message: { ready?: boolean; event?: string; title?: string } = JSON.parse(line);
    if (message.ready) this.#isReady = true;
    if (message.event === 'PostCreated' && message.title !== undefined) this.titles.push(message.title);
    this.#check();
  }

  async #until(problem: string, isReached: () => boolean): Promise<void> {
    const { promise: reached, resolve, reject } = Promise.withResolvers<void>();
    this.#check = () => isReached() && resolve();
    const timer = setTimeout(() => reject(new Error(`${problem} within ${timeoutMs / 1_000} s`)), timeoutMs);
    this.#check();
    try {
      await Promise.race([reached, this.#ended]);
    } catch (error) {
      const received = `It received ${this.titles.length} posts, the last of them "${this.titles.at(-1)}".`;
      throw new Error([String(error), received, ...this.#errors].join('\n'));
    } finally {
      clearTimeout(timer);
    }
  }
}
