import { writeSync } from 'node:fs';

const maxWaitingBytes = 1_000_000;
const firstRetryMs = 1;
const maxRetryMs = 100;
/** When the process exits, waiting lines are written within this time, or lost. */
const exitMs = 200;

/**
 * Writes log lines to standard error, and never waits for the reader. While the destination accepts nothing (a pipe that
 * nobody reads, a full disk), lines wait in memory up to a limit; further lines are dropped and counted. No error of the
 * destination ends the process. Only a stopped terminal (Ctrl-S) still blocks the writer.
 */
export class Output {
  /** The number of lines dropped since the start. */
  dropped = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** The number of dropped lines that have been reported to the destination. */
  #reported = 0;
  #retryMs = firstRetryMs;
  #retry: NodeJS.Timeout | undefined;

  constructor() {
    // Node opens the stream at its first use, which puts a pipe or a socket into non-blocking mode: writeSync then
    // fails with EAGAIN instead of blocking. Other code may also write to the stream; its failures must not end the
    // process.
    process.stderr.on('error', () => {});
    process.once('exit', () => this.#flushAtExit());
  }

  /** Writes text that consists of whole lines, each with its line break. */
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

  /** Writes as much as the destination accepts, and tries again later if lines remain. */
  #flush(): void {
    this.#retry = undefined;
    if (this.#writeWaiting() && this.#reportDropped()) {
      this.#retryMs = firstRetryMs;
      return;
    }
    this.#retry = setTimeout(() => this.#flush(), this.#retryMs).unref();
    this.#retryMs = Math.min(maxRetryMs, this.#retryMs * 2);
  }

  /** Returns false if some lines still wait. */
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
    if (count === 0) return true;
    const line = Buffer.from(describeDropped(count));
    this.#reported = this.dropped;
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    return this.#writeWaiting();
  }

  /**
   * Returns the number of bytes written. Every error is treated as temporary: even a full disk may have space again.
   */
  #tryWrite(bytes: Buffer): number {
    try {
      return writeSync(2, bytes);
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

/** A warning in the format of pino, whose level 40 means "warn". */
function describeDropped(count: number): string {
  const warning = { level: 40, time: new Date().toISOString(), dropped: count, msg: 'log lines were dropped' };
  return `${JSON.stringify(warning)}\n`;
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
