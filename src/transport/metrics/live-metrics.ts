import type { Bus } from '../../live/bus/bus.ts';
import type { FanOut } from '../../live/fan-out.ts';
import { streamTransports } from '../../live/live-counts.ts';
import type { Labels, MetricSeries, Metrics } from './metrics.ts';

/** The metrics of subscriptions, deliveries and the bus. */
export function addLiveMetrics(metrics: Metrics, bus: Bus, fanOut: FanOut): void {
  const { counts } = fanOut;
  metrics.gauge('postroom_feeds', 'Rooms with subscribers.', () => fanOut.sizes.feeds);
  metrics.gauge('postroom_groups', 'Groups of equal subscriptions.', () => fanOut.sizes.groups);
  metrics.gauge(
    'postroom_subscribers',
    'Open subscriptions to the events of rooms, and inboxes.',
    () => fanOut.sizes.subscribers,
  );
  metrics.gauge('postroom_subscriptions', 'Open subscriptions, by transport.', () =>
    streamTransports.map((transport) => ({ labels: { transport }, value: counts.open[transport] })),
  );
  metrics.counter('postroom_subscriptions_started_total', 'Subscriptions that were opened.', () =>
    streamTransports.map((transport) => ({ labels: { transport }, value: counts.started[transport] })),
  );
  metrics.counter('postroom_subscriptions_ended_total', 'Subscriptions that have ended, by reason.', () =>
    streamTransports.flatMap((transport) => toSeries('reason', counts.ended[transport], { transport })),
  );
  metrics.counter('postroom_resumes_total', 'Subscriptions after a cursor, by OK or the code of the error.', () =>
    toSeries('outcome', counts.resumes),
  );
  metrics.counter(
    'postroom_event_executions_total',
    'Executions of a selection for an event.',
    () => counts.executions,
  );
  metrics.counter('postroom_deliveries_total', 'Events written to live subscribers.', () => counts.deliveries);
  metrics.counter('postroom_log_reads_total', "Reads of a room's log.", () => counts.logReads);
  metrics.counter('postroom_replayed_events_total', 'Events written from the log.', () => counts.replayed);
  metrics.histogram('postroom_delivery_lag_seconds', 'From the time of an event to its live write to a socket.', () => [
    { labels: {}, histogram: counts.deliveryLag },
  ]);
  metrics.gauge(
    'postroom_slow_consumers',
    'Subscriptions whose clients must read before more is written.',
    () => counts.slowConsumers,
  );
  metrics.gauge('postroom_bus_listeners', 'Listeners on the bus, including one of the process itself.', () =>
    bus.listenerCount(),
  );
  metrics.gauge('postroom_bus_up', 'Whether messages of other processes arrive.', () => Number(bus.isUp()));
  metrics.counter('postroom_bus_messages_total', 'Messages between nodes, by result.', () => [
    { labels: { result: 'published' }, value: bus.counts.published },
    { labels: { result: 'received' }, value: bus.counts.received },
    { labels: { result: 'wake_up' }, value: bus.counts.wakeUps },
    { labels: { result: 'lost' }, value: bus.counts.lost },
  ]);
}

function toSeries(label: string, counts: ReadonlyMap<string, number>, labels: Labels = {}): MetricSeries[] {
  return Array.from(counts, ([key, value]) => ({ labels: { ...labels, [label]: key }, value }));
}
