import type { RoomEvent } from '../../data/event-log/events.ts';
import type { TraceContext } from '../../tracing/trace-context.ts';

/** Messages may arrive that no read follows, so their number is limited. */
const maxTraces = 256;

/** The traces of events that the bus has announced, and that a feed reads from the log, which has no traces. */
export class AnnouncedTraces {
  readonly #traces = new Map<number, { mark: number; trace: TraceContext }>();

  add({ seq, mark, trace }: RoomEvent): void {
    if (!trace) return;
    if (this.#traces.size >= maxTraces) this.#traces.clear();
    this.#traces.set(seq, { mark, trace });
  }

  /** The event with its trace, if there is one. */
  restore(event: RoomEvent): RoomEvent {
    const announced = this.#traces.get(event.seq);
    if (!announced) return event;
    this.#traces.delete(event.seq);
    return announced.mark === event.mark ? { ...event, trace: announced.trace } : event;
  }
}
