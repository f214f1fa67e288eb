import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';

export interface ProgramOptions extends Pick<SpawnOptions, 'env' | 'uid' | 'gid' | 'cwd'> {
  /** Matches the line of its output, without its colours, that shows that it is ready. */
  ready: RegExp;
  /** The signal that stops it gracefully. */
  stopSignal: NodeJS.Signals;
  onLine?: (line: string) => void;
}

/**
 * A program that runs until it is stopped, in a process group of its own: Ctrl-C reaches only the process that started it,
 * which stops its programs in order.
 */
export class Program {
  readonly name: string;
  readonly process: ChildProcess;
  /** The groups of the line that matched `ready`. Rejects if the program ends before that line. */
  readonly ready: Promise<RegExpExecArray>;
  /** Resolves with the reason when it exits: a status or a signal. */
  readonly exited: Promise<string>;
  readonly #stopSignal: NodeJS.Signals;
  readonly #lastLines: string[] = [];
  #isStopping = false;

  constructor(name: string, command: string, args: string[], options: ProgramOptions) {
    const { ready, stopSignal, onLine, ...spawnOptions } = options;
    this.name = name;
    this.#stopSignal = stopSignal;
    this.process = spawn(command, args, { ...spawnOptions, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const isReady = Promise.withResolvers<RegExpExecArray>();
    for (const output of [this.process.stdout, this.process.stderr]) {
      if (!output) continue;
      createInterface(output).on('line', (line) => {
        this.#lastLines.push(line);
        if (this.#lastLines.length > 5) this.#lastLines.shift();
        const match = ready.exec(stripVTControlCharacters(line));
        if (match) isReady.resolve(match);
        onLine?.(line);
      });
    }
    this.exited = new Promise((resolve) => {
      this.process.once('error', ({ message }) => resolve(message));
      // Unlike `exit`, this event follows the last line of the output.
      this.process.once('close', (status, signal) =>
        resolve(signal ? `it was ended by ${signal}` : `it exited with status ${status}`),
      );
    });
    void this.exited.then((reason) =>
      isReady.reject(new Error([`${name} did not start: ${reason}`, ...this.#lastLines].join('\n  '))),
    );
    this.ready = isReady.promise;
    this.ready.catch(() => {});
  }

  /** Whether `stop` or `kill` was called. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  get hasExited(): boolean {
    const { exitCode, signalCode, pid } = this.process;
    return pid === undefined || exitCode !== null || signalCode !== null;
  }

  async stop(signal = this.#stopSignal): Promise<void> {
    this.#isStopping = true;
    if (!this.hasExited) this.process.kill(signal);
    await this.exited;
  }

  kill(): void {
    this.#isStopping = true;
    if (!this.hasExited) this.process.kill('SIGKILL');
  }
}

/** Programs that are stopped together. */
export class Programs {
  readonly #running = new Set<Program>();
  #isStopping = false;

  /** @throws Error if the programs are being stopped. */
  start(name: string, command: string, args: string[], options: ProgramOptions): Program {
    if (this.#isStopping) throw new Error(`${name} is not started, because the others are being stopped`);
    const program = new Program(name, command, args, options);
    this.#running.add(program);
    void program.exited.then(() => this.#running.delete(program));
    return program;
  }

  /** Stops them gracefully, nodes first: they need the others until their last answer. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const isNode = ({ name }: Program) => name.startsWith('node');
    const running = [...this.#running];
    await Promise.all(running.filter(isNode).map((program) => program.stop()));
    await Promise.all(running.map((program) => program.stop()));
  }

  /** Ends them at once, also while this process exits. */
  kill(): void {
    for (const program of this.#running) program.kill();
  }
}

/** Runs a command to its end. @throws Error with its output if it fails. */
export async function runToEnd(
  command: string,
  args: string[],
  options: Pick<SpawnOptions, 'env' | 'uid' | 'gid' | 'cwd'> = {},
): Promise<string> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk) => chunks.push(chunk));
  const [status, signal] = await once(child, 'close');
  const output = String(Buffer.concat(chunks)).trim();
  if (status !== 0)
    throw new Error(`${command} failed with ${signal ?? status}:\n  ${output.replaceAll('\n', '\n  ')}`);
  return output;
}
