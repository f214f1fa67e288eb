import { appendFileSync } from 'node:fs';

/** A file for the lines of all runs; without it, only the latest lines are kept. */
const file = process.env['CHAOS_JOURNAL'];
const maxLines = 60;

/** What happened, and what must not have happened. */
export class Journal {
  readonly violations: string[] = [];
  readonly counts: Record<string, number> = {};
  readonly #latest: string[] = [];
  readonly #startedAt = performance.now();

  note(text: string): void {
    const line = `${((performance.now() - this.#startedAt) / 1_000).toFixed(3)} ${text}`;
    this.#latest.push(line);
    if (this.#latest.length > maxLines) this.#latest.shift();
    if (file) appendFileSync(file, `${line}\n`);
  }

  count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }

  violate(text: string): void {
    this.violations.push(text);
    this.note(`VIOLATION ${text}`);
  }

  /** @throws Error with the violations and what happened before them. */
  assertNoViolation(): void {
    if (this.violations.length === 0) return;
    const shown = this.violations.slice(0, 20).join('\n  ');
    throw new Error(
      `${this.violations.length} violations:\n  ${shown}\nThe latest steps:\n  ${this.#latest.join('\n  ')}`,
    );
  }
}
