import type { EventContent, RoomEvent } from '../data/events.ts';

/** The rows of a post and its author, without their texts. */
const rowBytes = 1_000;

interface HeldContent {
  readonly event: RoomEvent;
  readonly bytes: number;
  /** Of one room, and of all rooms. */
  readonly budgets: readonly ContentBudget[];
}

/**
 * A memory budget for the content of recent events. When it is exceeded, the oldest contents are removed from their events:
 * a reader that comes later reads the post as it is now. The latest content stays whatever its size.
 */
export class ContentBudget {
  /** In the order in which the events were written. */
  readonly #held = new Set<HeldContent>();
  readonly #maxBytes: number;
  #used = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(held: HeldContent): void {
    this.#held.add(held);
    this.#used += held.bytes;
    for (const oldest of this.#held) {
      if (this.#used <= this.#maxBytes || oldest === held) return;
      remove(oldest);
    }
  }

  delete(held: HeldContent): void {
    if (this.#held.delete(held)) this.#used -= held.bytes;
  }

  clear(): void {
    for (const held of this.#held) remove(held);
  }
}

/** Lets an event keep its content as it was written, as long as each of the budgets has room for it. */
export function holdContent(event: RoomEvent, budgets: readonly ContentBudget[]): void {
  if (!event.content) return;
  const held = { event, bytes: bytesOf(event.content), budgets };
  for (const budget of budgets) budget.add(held);
}

/** From the event itself: a group that has yet to render it does not keep the content alive. */
function remove(held: HeldContent): void {
  held.event.content = undefined;
  for (const budget of held.budgets) budget.delete(held);
}

function bytesOf({ post, author }: EventContent): number {
  return rowBytes + 2 * (post.title.length + (post.body?.length ?? 0) + author.name.length);
}
