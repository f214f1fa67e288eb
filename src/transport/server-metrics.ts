import type { Bus } from '../live/bus/bus.ts';
import type { FanOut } from '../live/fan-out.ts';
import type { Log } from '../log.ts';
import type { Metrics } from './metrics.ts';
import type { WebSocketEndpoint } from './websocket/server.ts';

export interface MeasuredParts {
  bus: Bus;
  fanOut: FanOut;
  webSockets: WebSocketEndpoint;
  log: Log;
  countLogReads: () => number;
  countDroppedConnections: () => number;
}

/** The metrics of the live feed, the connections and the log. Each is read when it is asked for. */
export function addServerMetrics(metrics: Metrics, parts: MeasuredParts): void {
  const { bus, fanOut, webSockets, log, countLogReads, countDroppedConnections } = parts;
  metrics.gauge('postroom_feeds', 'Rooms with subscribers.', () => fanOut.counts.feeds);
  metrics.gauge('postroom_groups', 'Groups of equal subscriptions.', () => fanOut.counts.groups);
  metrics.gauge('postroom_subscribers', 'Live subscriptions.', () => fanOut.counts.subscribers);
  metrics.counter(
    'postroom_events_rendered_total',
    'Executions of a selection for an event.',
    () => fanOut.counts.executions,
  );
  metrics.gauge('postroom_bus_listeners', 'Listeners on the bus, including one of the process itself.', () =>
    bus.listenerCount(),
  );
  metrics.gauge('postroom_bus_up', 'Whether messages of other processes arrive.', () => Number(bus.isUp()));
  metrics.gauge('postroom_websockets', 'Open WebSockets.', () => webSockets.size);
  metrics.counter('postroom_log_reads_total', "Reads of a room's log.", countLogReads);
  metrics.counter(
    'postroom_dropped_connections_total',
    'Connections dropped because no file descriptor was left.',
    countDroppedConnections,
  );
  metrics.counter(
    'postroom_log_lines_dropped_total',
    'Log lines dropped because standard error was not read or could not be written.',
    () => log.countDropped(),
  );
}
