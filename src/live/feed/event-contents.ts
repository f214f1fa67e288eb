import type { RoomEvent } from '../../data/event-log/events.ts';

/** The estimated size of the rows of a post and its author, without their texts. */
const rowBytes = 1_000;

interface HeldContent {
  readonly event: RoomEvent;
  readonly bytes: number;
  /** The budget of the room, and the budget of all rooms. */
  readonly budgets: readonly ContentBudget[];
}

/**
 * A memory budget for the content of recent events. When it is exceeded, the oldest contents are removed from their
 * events, and later readers get the post as it is now. The latest content stays, whatever its size.
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

/** Keeps the content of an event as it was written, until one of the budgets is exceeded. */
export function holdContent(event: RoomEvent, budgets: readonly ContentBudget[]): void {
  if (!event.content) return;
  const { post, author } = event.content;
  const bytes = rowBytes + 2 * (post.title.length + (post.body?.length ?? 0) + author.name.length);
  const held = { event, bytes, budgets };
  for (const budget of budgets) budget.add(held);
}

/**
 * Removes the content from the event itself, so that a group that has not executed the event yet does not retain it.
 */
function remove(held: HeldContent): void {
  held.event.content = undefined;
  for (const budget of held.budgets) budget.delete(held);
}
