import { writeSync } from 'node:fs';

const maxWaitingBytes = 1_000_000;
const firstRetryMs = 1;
const maxRetryMs = 100;
/** What waits at the end of the process is written within this time, or lost. */
const exitMs = 200;

export interface OutputOptions {
  /** The line that is written when others had to be dropped, once there is space again. */
  describeDropped?: (count: number) => string;
}

/**
 * Writes lines to standard output (1) or standard error (2), and never waits for the reader. While the destination takes
 * nothing (a pipe that nobody reads, a full disk), lines wait in memory up to a bound; further ones are dropped and counted.
 * No error of the destination ends the process. Only a terminal that was stopped (Ctrl-S) still stops the writer.
 */
export class Output {
  /** Lines that were lost since the start. */
  dropped = 0;
  readonly #fd: 1 | 2;
  readonly #describeDropped: OutputOptions['describeDropped'];
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Of those dropped, how many the destination has been told of. */
  #reported = 0;
  #retryMs = firstRetryMs;
  #retry: NodeJS.Timeout | undefined;

  constructor(fd: 1 | 2, { describeDropped }: OutputOptions = {}) {
    this.#fd = fd;
    this.#describeDropped = describeDropped;
    // Node opens the stream at its first use, which puts a pipe or a socket into non-blocking mode: writeSync then fails
    // with EAGAIN where it would wait. Others may write to the stream, too; their failures must not end the process either.
    (fd === 1 ? process.stdout : process.stderr).on('error', ignore);
    process.once('exit', () => this.#flushAtExit());
  }

  /** Lines, each with its line break. */
  write(text: string): void {
    const bytes = Buffer.from(text);
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes.length > maxWaitingBytes) {
      this.dropped += 1;
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (!this.#retry) this.#flush();
  }

  /** Writes what the destination takes, and tries again later where it does not take all. */
  #flush(): void {
    this.#retry = undefined;
    if (this.#writeWaiting() && this.#reportDropped()) {
      this.#retryMs = firstRetryMs;
      return;
    }
    this.#retry = setTimeout(() => this.#flush(), this.#retryMs).unref();
    this.#retryMs = Math.min(maxRetryMs, this.#retryMs * 2);
  }

  /** False where some of it still waits. */
  #writeWaiting(): boolean {
    let written = 0;
    for (const bytes of this.#waiting) {
      const length = this.#tryWrite(bytes);
      this.#waitingBytes -= length;
      if (length < bytes.length) {
        this.#waiting[written] = bytes.subarray(length);
        break;
      }
      written += 1;
    }
    this.#waiting = this.#waiting.slice(written);
    return this.#waiting.length === 0;
  }

  #reportDropped(): boolean {
    const count = this.dropped - this.#reported;
    if (count === 0 || !this.#describeDropped) return true;
    const line = Buffer.from(this.#describeDropped(count));
    this.#reported = this.dropped;
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    return this.#writeWaiting();
  }

  /** How many bytes were taken. Which error it was makes no difference: a full disk, too, may have space again. */
  #tryWrite(bytes: Buffer): number {
    try {
      return writeSync(this.#fd, bytes);
    } catch {
      return 0;
    }
  }

  #flushAtExit(): void {
    clearTimeout(this.#retry);
    const deadline = performance.now() + exitMs;
    while (!(this.#writeWaiting() && this.#reportDropped()) && performance.now() < deadline) sleep(firstRetryMs);
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function ignore(): void {}
