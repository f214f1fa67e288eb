import { findMistakenSettings, readConfig } from '../config.ts';
import { createLog, nodeNameOf } from '../log.ts';
import { startServer } from '../server.ts';
import { assertAddressFree } from './address.ts';

/**
 * Serves until it receives SIGINT, SIGTERM or SIGHUP. Returns 0 after an orderly stop, 1 if it was given arguments,
 * because it takes none.
 */
export async function serve(args: string[]): Promise<number> {
  if (args.length > 0) {
    process.stderr.write(
      `postroom: serve takes no ${args[0]}: PORT, HOST and all other settings are environment variables\n`,
    );
    return 1;
  }
  const config = readConfig();
  await assertAddressFree(config);
  const log = createLog(config.logLevel, nodeNameOf(config));
  for (const mistaken of findMistakenSettings())
    log.warn(mistaken, 'an environment variable that is not a setting resembles one');
  const server = await startServer(config, log);
  // Installed before the message below, because a process that reads the message may send a signal at once.
  const stopped = nextSignal();
  const redis = config.redisUrl && new URL(config.redisUrl).host;
  const { url, metricsUrl: metrics, databaseName: database } = server;
  log.info({ url: `${url}/graphql`, metrics, database, redis }, 'started');
  // Nobody may read it, or the disk may be full; the server serves nevertheless.
  process.stdout.on('error', () => {});
  process.stdout.write(`Postroom is at ${server.url}/graphql

  In a browser  ${server.url}/graphql  opens GraphiQL, with tabs to try: a query, sign-up and a post, a live room.
  Or            curl ${server.url}/graphql -H 'content-type: application/json' -d '{"query":"{ rooms { data { id name } } }"}'
  Fill it       npm run import -- FILE, while this server runs (npx postroom import FILE if the package is installed)

`);
  const signal = await stopped;
  log.info({ signal }, 'stopping');
  // Nobody who presses Ctrl-C has a load balancer that must notice first.
  await server.close({ withDelay: signal === 'SIGTERM' });
  log.info({ signal }, 'stopped');
  return 0;
}

/** The first signal. Later signals have no effect: on one Ctrl-C, npm forwards a second signal in addition to the terminal's own. */
function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, resolve);
  });
}
