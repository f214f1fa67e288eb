import type { Config } from '../config/config.ts';
import { type Log, nodeNameOf } from '../log/log.ts';
import type { Tracing } from './span.ts';

/** Undefined if no traces are recorded: the SDK of OpenTelemetry is then not loaded. */
export async function loadTracing(config: Config, log: Log): Promise<Tracing | undefined> {
  if (!config.tracing) return undefined;
  const { openTracing } = await import('./open-tracing.ts');
  return openTracing(config.tracing, log, nodeNameOf(config));
}
