/** What one subscriber received. */
export type Received =
  | { type: 'event'; seq: number; mark: string; title: string }
  /** It was notified that it cannot continue, and resumed from the position after `seq`. */
  | { type: 'notice'; code: string; seq: number };

/**
 * Checks the promise of a room: each subscriber receives every acknowledged post once, in order, or is notified. A write
 * without an answer may have happened once, or not at all.
 */
export class EventChecker {
  /** The titles that were acknowledged, by writer, in the order of the acknowledgements. */
  readonly #acknowledged = new Map<string, string[]>();
  readonly #attempted = new Set<string>();
  readonly #readers = new Map<string, { start: number; received: Received[] }>();

  get acknowledgedCount(): number {
    return this.#acknowledged.values().reduce((count, titles) => count + titles.length, 0);
  }

  attempt(title: string): void {
    this.#attempted.add(title);
  }

  acknowledge(writer: string, title: string): void {
    const titles = this.#acknowledged.get(writer) ?? [];
    this.#acknowledged.set(writer, titles);
    titles.push(title);
  }

  /** `start`: the number of the position from which the reader is live. */
  addReader(reader: string, start: number): void {
    this.#readers.set(reader, { start, received: [] });
  }

  hasReader(reader: string): boolean {
    return this.#readers.has(reader);
  }

  get readers(): string[] {
    return [...this.#readers.keys()];
  }

  receive(reader: string, received: Received): void {
    this.#readers.get(reader)?.received.push(received);
  }

  hasReceived(reader: string, title: string): boolean {
    return this.#readers.get(reader)?.received.some((item) => item.type === 'event' && item.title === title) ?? false;
  }

  /** The numbers of acknowledged posts so far, by writer. */
  countAcknowledged(): ReadonlyMap<string, number> {
    return new Map([...this.#acknowledged].map(([writer, { length }]) => [writer, length]));
  }

  /** The violations of the promise. `due`: the posts that every reader must have received by now; by default all. */
  findProblems(due = this.countAcknowledged()): string[] {
    return [...this.#readers].flatMap(([reader, { start, received }]) => [
      ...this.#checkOrder(received, start).map((problem) => `${reader}: ${problem}`),
      ...this.#checkTitles(received, due).map((problem) => `${reader}: ${problem}`),
    ]);
  }

  #checkOrder(received: readonly Received[], start: number): string[] {
    const problems: string[] = [];
    let last = start;
    for (const item of received) {
      if (item.type === 'event' && item.seq !== last + 1) {
        const fault = item.seq > last ? 'a silent gap' : 'a repeat, or out of order';
        problems.push(`${fault}: event ${item.seq} ("${item.title}") after ${last}`);
      }
      last = item.seq;
    }
    return problems;
  }

  #checkTitles(received: readonly Received[], due: ReadonlyMap<string, number>): string[] {
    const titles = received.flatMap((item) => (item.type === 'event' ? [item.title] : []));
    const wasNotified = titles.length < received.length;
    const places = new Map(titles.map((title, index) => [title, index]));
    const problems = titles.filter((title) => !this.#attempted.has(title)).map((title) => `nobody wrote "${title}"`);
    if (places.size < titles.length) problems.push(`${titles.length - places.size} posts were received twice`);
    for (const [writer, all] of this.#acknowledged) {
      const own = all.slice(0, due.get(writer) ?? 0);
      const missing = own.filter((title) => !places.has(title));
      // Whether the events of a notified reader were really lost is a question for the database.
      if (missing.length > 0 && !wasNotified)
        problems.push(`lost acknowledged posts of ${writer}: ${missing.slice(0, 5)}`);
      const order = own.flatMap((title) => places.get(title) ?? []);
      if (order.some((place, index) => place < (order[index - 1] ?? -1)))
        problems.push(`posts of ${writer} out of order`);
    }
    return problems;
  }
}
