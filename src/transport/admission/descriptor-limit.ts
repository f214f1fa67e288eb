import { readdirSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Log } from '../../log/log.ts';
import { createReportLimit } from '../../log/recent-reports.ts';

/**
 * Reserved for files and connections that are opened later: a request to an issuer, a signal, a log that is reopened, and
 * three threads of SQLite, for checkpoints and long reads, each of which opens eight.
 */
const reservedDescriptors = 40;

/**
 * Bounds the connections of a listening server by the file descriptors that the process may still open. Without a
 * bound, a process with no descriptor left would drop connections silently and could not read files. Drops are counted
 * and logged. `other`: another server of the process, whose connections are reserved.
 */
export function boundConnections(
  server: Server,
  dropped: { count: number },
  log: Pick<Log, 'warn'>,
  other: Server | undefined,
): void {
  const free = countFreeDescriptors();
  if (free === undefined) return;
  server.maxConnections = Math.max(1, free - reservedDescriptors - (other?.maxConnections ?? 0));
  const isDue = createReportLimit();
  server.on('drop', () => {
    dropped.count += 1;
    if (!isDue('dropped')) return;
    const { maxConnections } = server;
    log.warn({ maxConnections, dropped: dropped.count }, 'connections are dropped: raise the limit of open files');
  });
}

/** Undefined if the system does not report the limit. */
function countFreeDescriptors(): number | undefined {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? undefined : Number(limit) - readdirSync('/proc/self/fd').length;
  } catch {
    return undefined;
  }
}
