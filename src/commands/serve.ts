import cluster from 'node:cluster';
import { Channel } from '../common/channel.ts';
import { type Config, findMistakenSettings, readConfig } from '../config/config.ts';
import { ClientError } from '../errors.ts';
import { createLog, type Log, loggedNameOf } from '../log/log.ts';
import { assertAddressesFree } from './address.ts';

/** After an uncaught exception, the maximum time to stop, in addition to that of the drain. */
const maxStopMs = 15_000;
/** As shells report the end by SIGINT. */
const interrupted = 130;

/**
 * Serves until it receives SIGINT, SIGTERM or SIGHUP. Returns 0 after an orderly stop, 1 if an exception was not caught.
 */
export async function serve(args: string[]): Promise<number> {
  const rule = `serve takes no ${args[0]}: PORT, HOST and all other settings are environment variables`;
  if (args.length > 0) throw new ClientError('VALIDATION_ERROR', rule);
  const config = readConfig();
  // Workers share the sockets of their parent.
  if (cluster.isPrimary) await assertAddressesFree(config);
  // The parent of workers does not load the server, which takes 50 MB.
  if (cluster.isPrimary && config.workers !== 1) return (await import('./workers.ts')).runWorkers(config);
  const { startServer } = await import('../server.ts');
  const log = createLog(config.logLevel, loggedNameOf(config));
  for (const mistaken of findMistakenSettings())
    log.warn(mistaken, 'an environment variable that is not a setting resembles one');
  const parent = cluster.worker && new Channel(process);
  const server = await startServer(config, log, { parent });
  // Without its parent a worker would exit at once, with the status 0; it drains first.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
  // Installed before the message below, because a process that reads the message may send a signal at once.
  const stopped = nextStop(config, log);
  const redis = config.redisUrl && new URL(config.redisUrl).host;
  const { url, metricsUrl: metrics, databaseName: database } = server;
  log.info({ url: `${url}/graphql`, metrics, database, redis }, 'started');
  // A terminal may be closed; the server serves nevertheless.
  process.stdout.on('error', () => {});
  // A collector of logs would read it between lines of JSON.
  if (process.stdout.isTTY && (cluster.worker?.id ?? 1) === 1)
    process.stdout.write(`Postroom is at ${url}/graphql\n\n${describeFirstSteps(url, config)}\n`);
  void parent?.ask('serves');
  const signal = await stopped;
  log.info({ signal }, 'stopping');
  // Nobody who presses Ctrl-C has a load balancer that must notice first.
  await server.close({ withDelay: signal === 'SIGTERM', isReplaced: signal === 'SIGUSR2' });
  log.info({ signal }, 'stopped');
  return Number(process.exitCode ?? 0);
}

function describeFirstSteps(url: string, { trustedDocuments }: Config): string {
  const fill =
    '  Fill it       npm run import -- FILE, while this server runs (npx postroom import FILE if the package is installed)\n';
  if (trustedDocuments) return `  Only the documents of ${trustedDocuments} run (TRUSTED_DOCUMENTS).\n${fill}`;
  return `  In a browser  ${url}/graphql  opens GraphiQL, with tabs to try: a query, sign-up and a post, a live room.
  Or            curl ${url}/graphql -H 'content-type: application/json' -d '{"query":"{ rooms { data { id name } } }"}'
${fill}`;
}

/**
 * The first signal, or undefined after an exception that nothing has caught. A second one has no effect, because on one
 * Ctrl-C npm forwards a signal in addition to the terminal's own. A third SIGINT ends the process at once.
 */
function nextStop({ drainSeconds }: Config, log: Log): Promise<NodeJS.Signals | undefined> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, resolve);
    // From the parent of a worker, whose successor serves.
    if (cluster.isWorker) process.on('SIGUSR2', resolve);
    let interrupts = 0;
    process.on('SIGINT', () => {
      interrupts += 1;
      if (interrupts > 2) process.exit(interrupted);
    });
    // Of the channel to the parent of a worker.
    process.on('disconnect', () => resolve(undefined));
    // The state of the process is unknown: it moves its clients to other servers, and a supervisor starts it again.
    const onUncaught = (error: unknown) => {
      log.error({ err: error }, 'an exception was not caught: the server stops');
      if (process.exitCode === 1) process.exit();
      process.exitCode = 1;
      setTimeout(() => process.exit(), drainSeconds * 1_000 + maxStopMs).unref();
      resolve(undefined);
    };
    // Without a listener of its own, Node passes a rejection to this one, too.
    process.on('uncaughtException', onUncaught);
  });
}
