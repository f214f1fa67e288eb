/* Callbacks that the test of boundaries does not make throw, each with its reason. */

const bookkeeping = 'changes numbers and maps in memory';
const contained = 'does nothing but call work that is contained, or asynchronous work that reports its errors';
const settles = 'settles promises, or refuses what waits';
const destroys = 'ends a connection or a request, as its failure would';
const atStart = 'runs once, before the first client';
const atEnd = 'runs while the process stops';

/** By boundary, or by file for all its boundaries. */
export const exceptions: Readonly<Record<string, string>> = {
  'commands/serve.ts': 'ends the process',
  'log/output.ts': 'writes the log, which reports all other exceptions',
  'common/channel.ts': 'answers the parent of a worker, or settles promises',
  'common/event-loop.ts': settles,
  'common/limited-queue.ts': settles,
  'common/within-time.ts': settles,
  'tracing/open-tracing.ts': atEnd,
  'engine/limits/redis-windows.ts': settles,
  'changes/background-work.ts': contained,
  'identity/credential-watch.ts': contained,
  'identity/oauth/oauth.ts': contained,
  "live/bus/checked-connection.ts: signal.addEventListener('abort')": settles,
  'live/bus/checked-connection.ts: setInterval(…)': settles,
  'live/bus/local.ts': 'passes lines on, in the parent of workers, or to what is contained',
  'live/bus/memory.ts': 'only tests create a bus that does not report errors',
  'live/bus/network-bus.ts': settles,
  'live/bus/outbox.ts': contained,
  'live/bus/postgres.ts': contained,
  'live/bus/redis.ts': destroys,
  'live/comparison.ts': contained,
  'live/groups/groups.ts': bookkeeping,
  'live/live-counts.ts': bookkeeping,
  'live/presence/own-presence.ts': bookkeeping,
  'live/presence/reports.ts: setTimeout(…)': bookkeeping,
  'live/presence/reports.ts: setTimeout(…), 2': bookkeeping,
  'live/presence/reports.ts: setTimeout(…), 3': contained,
  'live/pace.ts: setTimeout(…)': contained,
  'live/states/state-streams.ts': contained,
  'data/postgres/connection.ts': destroys,
  'data/postgres/transactions.ts': settles,
  'data/sqlite/backup/draft.ts': atEnd,
  'data/sqlite/database.ts': 'checks the database: an exception means that its state is unknown, and the process ends',
  'data/sqlite/file.ts': atEnd,
  "data/sqlite/threads/thread.ts: this.#worker.on('error')": settles,
  "data/sqlite/threads/thread.ts: this.#worker.on('exit')": settles,
  'data/sqlite/wal/write-ahead-log.ts':
    'acknowledges commits: an exception means that their state is unknown, and the process ends',
  "transport/http/connections.ts: stopping?.addEventListener('abort')": bookkeeping,
  'transport/http/connections.ts: setImmediate(…)': bookkeeping,
  'transport/http/connections.ts: setImmediate(…), 2': 'reads connections again',
  "transport/admission/descriptor-limit.ts: server.on('drop')": bookkeeping,
  'transport/admission/handshake-queue.ts: setTimeout(…)': contained,
  'transport/batched-writes.ts: setImmediate(…)': contained,
  'transport/http/connections.ts: createServer(…)': 'is the listener of createContainedServer',
  "transport/http/responses.ts: request.on('data')": 'counts what arrives after the answer',
  "transport/http/server.ts: server.once('listening')": atStart,
  'transport/http/refusal.ts: socket.end(…)': destroys,
  'transport/http/refusal.ts: setTimeout(…)': destroys,
  'transport/inventory.ts': bookkeeping,
  'transport/metrics/event-loop-delay.ts': bookkeeping,
  "transport/metrics/metrics-port.ts: server.once('listening')": atStart,
  'transport/servers.ts: setInterval(…)': atEnd,
  'transport/websocket/frame-limits.ts': contained,
  'transport/websocket/connection.ts: contain(end)': destroys,
  'transport/websocket/connection.ts: setTimeout(…)': destroys,
  'transport/websocket/keep-alive.ts: setInterval(…)': contained,
  'transport/websocket/protocol.ts: contain(endLate)': destroys,
};
