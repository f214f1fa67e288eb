import type { WriteStream } from 'node:tty';
import type { Counts, Outcome } from './batch.ts';

const progressIntervalMs = 100;
const nouns = ['rooms', 'users', 'posts'] as const;

/** The output for the operator: refused lines at once, the progress if it is a terminal, and a summary at the end. */
export class Report {
  readonly #stderr: WriteStream;
  readonly #isStrict: boolean;
  readonly #startedAt = performance.now();
  readonly #added: Counts = { rooms: 0, users: 0, posts: 0 };
  readonly #existing: Counts = { rooms: 0, users: 0, posts: 0 };
  #correctedTitles = 0;
  refused = 0;
  /** The number of the line at which a strict import stopped. */
  stoppedAt: number | undefined;
  #shownAt = Number.NEGATIVE_INFINITY;

  constructor(stderr: WriteStream, isStrict: boolean) {
    this.#stderr = stderr;
    this.#isStrict = isStrict;
  }

  add({ added, existing, correctedTitles, refusals }: Outcome): void {
    for (const noun of nouns) {
      this.#added[noun] += added[noun];
      this.#existing[noun] += existing[noun];
    }
    this.#correctedTitles += correctedTitles;
    this.refused += refusals.length;
    if (this.#isStrict) this.stoppedAt = refusals[0]?.line;
    if (refusals.length > 0) this.clearProgress();
    for (const { line, reason } of refusals) this.#stderr.write(`line ${line}: ${reason}\n`);
    this.#showProgress();
  }

  clearProgress(): void {
    if (this.#stderr.isTTY) this.#stderr.write('\r\x1b[K');
  }

  summary(): string {
    const rows = nouns.map(
      (noun) => `${noun}: ${format(this.#added[noun])} added, ${format(this.#existing[noun])} already present\n`,
    );
    const titles = countOf(this.#correctedTitles, 'title');
    return [
      `${this.#describeSpeed()}\n`,
      ...rows,
      ...(this.#correctedTitles > 0 ? [`${titles} had control characters replaced by spaces\n`] : []),
      `lines refused: ${format(this.refused)}\n`,
      ...(this.stoppedAt === undefined
        ? []
        : [`stopped at line ${this.stoppedAt}, because of --strict: no later line was imported\n`]),
    ].join('');
  }

  #showProgress(): void {
    if (!this.#stderr.isTTY || performance.now() - this.#shownAt < progressIntervalMs) return;
    this.#stderr.write(`\r${this.#describeSpeed()}\x1b[K`);
    this.#shownAt = performance.now();
  }

  #describeSpeed(): string {
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const records = nouns.reduce((sum, noun) => sum + this.#added[noun] + this.#existing[noun], this.refused);
    return `${countOf(records, 'record')} in ${seconds.toFixed(1)} s`;
  }
}

function countOf(count: number, noun: string): string {
  return `${format(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function format(count: number): string {
  return count.toLocaleString('en-US');
}
