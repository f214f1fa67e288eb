import type { RoomEvent } from '../data/event-log/events.ts';
import type { Span, SpanAttributes, Tracing } from '../tracing/tracing.ts';

/* https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/ */

const system: SpanAttributes = { 'messaging.system': 'postroom' };

/** The span in which a change publishes its messages. */
export function startPublishing(parent: Span, messageCount: number): Span {
  return parent.startChild('publish', 'producer', {
    ...system,
    'messaging.operation.name': 'publish',
    'messaging.operation.type': 'send',
    'messaging.batch.message_count': messageCount,
  });
}

/** The span in which a process receives an event from the bus; undefined if the trace of the change is not recorded. */
export function startReceiving(tracing: Tracing | undefined, event: RoomEvent): Span | undefined {
  if (!event.trace) return undefined;
  return tracing?.start({
    name: 'process',
    kind: 'consumer',
    parent: event.trace,
    attributes: {
      ...system,
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': `room:${event.roomId}`,
      'messaging.destination.template': 'room:{id}',
      'messaging.message.id': String(event.seq),
      'postroom.event.type': event.type,
    },
  });
}

/** The span of one execution of an event, and of its delivery to all subscribers with the same selection. */
export function startDelivery(tracing: Tracing | undefined, { trace, type }: RoomEvent): Span | undefined {
  if (!trace) return undefined;
  return tracing?.start({
    name: 'deliver',
    kind: 'internal',
    parent: trace,
    attributes: { 'postroom.event.type': type },
  });
}
