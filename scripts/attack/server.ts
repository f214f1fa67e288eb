import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startedLine } from '../started-line.ts';
import type { ClockMove } from './movable-date.ts';
import type { ProbeQuestion, ProbeReport } from './probe.ts';
import { until, within } from './waiting.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const probe = new URL('./probe.ts', import.meta.url).href;
const movableDate = new URL('./movable-date.ts', import.meta.url).href;

export interface ServerOptions {
  /** A setting that is absent has its default. */
  settings?: Record<string, string>;
  /** The folder of the database file, which may already exist. */
  folder: string;
  /** A command that starts node, for example `strace`, and its arguments. */
  startedBy?: string[];
  /** File descriptors for the output. By default the output is read through pipes. */
  stdout?: number;
  stderr?: number;
  /** Whether its wall clock can be moved. */
  hasMovableClock?: boolean;
}

/** The real program in its own process, with the probe preloaded. */
export class Server {
  readonly process: ChildProcess;
  readonly folder: string;
  /** The lines of standard error. */
  readonly log: string[] = [];
  /** Rejects when the process exits unexpectedly. */
  readonly died: Promise<never>;
  peakMb = 0;
  port = 0;
  #firstPeakMb = 0;
  #isEnding = false;

  constructor(options: ServerOptions) {
    const { folder, settings = {}, startedBy = [], stdout = 'pipe', stderr = 'pipe' } = options;
    this.folder = folder;
    const imports = [probe, ...(options.hasMovableClock ? [movableDate] : [])].flatMap((url) => ['--import', url]);
    const node = [process.execPath, '--expose-gc', '--max-semi-space-size=32', ...imports, main, 'serve'];
    const [command = '', ...args] = [...startedBy, ...node];
    this.process = spawn(command, args, {
      stdio: ['ignore', stdout, stderr, 'ipc'],
      env: {
        PATH: process.env['PATH'],
        NODE_NO_WARNINGS: '1',
        PORT: '0',
        DATABASE_URL: `sqlite:${this.databaseFile}`,
        ...settings,
      },
    });
    if (this.process.stderr) createInterface(this.process.stderr).on('line', (line) => this.log.push(line));
    this.process.stdout?.resume();
    this.port = Number(settings['PORT'] ?? 0);
    this.died = once(this.process, 'exit').then(([status, signal]) => {
      if (this.#isEnding) return new Promise<never>(() => {});
      throw new Error(`the server died (${signal ?? status}): ${this.log.slice(-3).join(' | ').slice(0, 300)}`);
    });
    this.died.catch(() => {});
    const sampling = setInterval(() => this.#samplePeak(), 100);
    this.process.once('exit', () => clearInterval(sampling));
  }

  /** Resolves when the server accepts requests. */
  async ready(): Promise<this> {
    await Promise.race([this.died, within(20_000, 'the start of the server', this.#waitForAddress())]);
    await this.begin();
    return this;
  }

  get databaseFile(): string {
    return join(this.folder, 'postroom.db');
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get isRunning(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  /** Starts a measurement: `growthMb` and `blockMs` are relative to this call. */
  async begin(): Promise<ProbeReport | undefined> {
    const report = await this.#askProbe('begin');
    try {
      // Resets the peak (proc(5)).
      writeFileSync(`/proc/${this.process.pid}/clear_refs`, '5');
    } catch {
      // The peak then covers the whole lifetime of the process.
    }
    this.#samplePeak();
    this.#firstPeakMb = this.peakMb;
    return report;
  }

  /** The growth of the peak resident memory since `begin`. */
  get growthMb(): number {
    return this.peakMb - this.#firstPeakMb;
  }

  get residentMb(): number {
    return this.#readMemory('VmRSS') ?? 0;
  }

  /** Undefined when the process has exited or does not answer within five seconds. */
  report(): Promise<ProbeReport | undefined> {
    this.#samplePeak();
    return this.#askProbe('report');
  }

  /** Sets the offset of the wall clock from the true time. */
  async moveClock(clockOffsetMs: number): Promise<void> {
    const moved = once(this.process, 'message');
    this.process.send({ clockOffsetMs } satisfies ClockMove);
    await within(5_000, 'moving the clock', moved);
  }

  /** Returns the exit status or signal, or 'killed' when the process did not exit within ten seconds. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string | null> {
    this.#isEnding = true;
    if (!this.isRunning) return this.process.exitCode;
    this.process.kill(signal);
    if (await until(10_000, () => !this.isRunning)) return this.process.exitCode ?? this.process.signalCode;
    await this.kill();
    return 'killed';
  }

  /** Ends the server through its probe, which also works when another program started it. */
  async exitThroughProbe(): Promise<void> {
    this.#isEnding = true;
    if (this.process.connected) this.process.disconnect();
    if (!(await until(5_000, () => !this.isRunning))) await this.kill();
  }

  async kill(): Promise<void> {
    this.#isEnding = true;
    // A signal only reaches the program that started node. The probe exits when its channel closes.
    if (this.process.connected) this.process.disconnect();
    if (!this.isRunning) return;
    const exit = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await exit;
  }

  async #waitForAddress(): Promise<void> {
    const find = () => this.log.map((line) => startedLine.exec(line)?.[1]).find(Boolean);
    if (this.process.stderr) {
      await until(20_000, () => find() !== undefined);
      this.port = Number(new URL(find() ?? '').port);
    } else {
      await until(20_000, () =>
        fetch(`${this.url}/health`).then(
          ({ ok }) => ok,
          () => false,
        ),
      );
    }
  }

  async #askProbe(question: ProbeQuestion['probe']): Promise<ProbeReport | undefined> {
    if (!this.isRunning || !this.process.connected) return undefined;
    const answered = once(this.process, 'message');
    this.process.send({ probe: question } satisfies ProbeQuestion, () => {});
    try {
      const [report] = await within(5_000, 'the answer of the probe', answered);
      return report as ProbeReport;
    } catch {
      return undefined;
    }
  }

  #samplePeak(): void {
    this.peakMb = this.#readMemory('VmHWM') ?? this.peakMb;
  }

  /** Undefined when the process has exited. */
  #readMemory(field: 'VmHWM' | 'VmRSS'): number | undefined {
    try {
      const status = readFileSync(`/proc/${this.process.pid}/status`, 'utf8');
      const [, kilobytes] = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status) ?? [];
      return kilobytes === undefined ? undefined : Number(kilobytes) / 1_024;
    } catch {
      return undefined;
    }
  }
}
