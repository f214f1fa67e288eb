import { readConfig } from '../config.ts';
import { createLog } from '../log.ts';
import { Output } from '../output.ts';
import { startServer } from '../server.ts';
import { assertAddressFree } from './address.ts';

/** Serves until it is told to stop (SIGINT, SIGTERM, SIGHUP). 0: it stopped in order, 1: it was given arguments, of which it has none. */
export async function serve(args: string[]): Promise<number> {
  if (args.length > 0) {
    process.stderr.write(`postroom: serve takes no ${args[0]}: PORT, HOST and the like are environment variables\n`);
    return 1;
  }
  const config = readConfig();
  await assertAddressFree(config);
  const server = await startServer(config, createLog(config.logLevel));
  // Whoever reads that it is up may already tell it to stop.
  const stopped = nextSignal();
  new Output(1).write(`Postroom is at ${server.url}/graphql

  In a browser  ${server.url}/graphql  opens GraphiQL, with tabs to try: a query, sign-up and a post, a live room.
  Or            curl ${server.url}/graphql -H 'content-type: application/json' -d '{"query":"{ rooms { data { id name } } }"}'
  Fill it       npx postroom import FILE, beside this server

`);
  await stopped;
  await server.close();
  return 0;
}

/** Those that follow change nothing: of one Ctrl-C, npm hands on another beside the terminal's own. */
function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve());
  });
}
