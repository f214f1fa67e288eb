import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { buildClientPackage } from './client-package.ts';
import { type Node, startNode } from './cluster/node.ts';
import { Programs, runToEnd } from './cluster/program.ts';
import { inRepository } from './repository.ts';
import { stopWithParent } from './stop-with-parent.ts';

/*
 * npm run example [-- --app-port N]
 *
 * Starts the server and the app of examples/chat. Settings apply to the server, which is started again when it ends.
 */

const folder = inRepository('examples/chat');
const { values } = parseArgs({ options: { 'app-port': { type: 'string', default: '5173' } } });
const appUrl = `http://localhost:${values['app-port']}`;
const origins = [process.env['ALLOWED_ORIGINS'], appUrl].filter(Boolean).join(',');
const settings = {
  PORT: process.env['PORT'] || '4000',
  ALLOWED_ORIGINS: origins,
  // The board of the app shows the tasks. The empty EXTENSIONS= starts the server without them.
  EXTENSIONS: process.env['EXTENSIONS'] ?? ['tasks', 'reactions'].map(findExtension).join(','),
};
/** A server that ends at once is not started again in a busy loop. */
const restartPauseMs = 500;
const programs = new Programs();
let isStopping = false;

process.once('exit', () => programs.kill());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop());
stopWithParent();

await stopIfItFails(start);

function findExtension(name: string): string {
  return inRepository(`examples/extensions/${name}`);
}

async function start(): Promise<void> {
  await buildClientPackage();
  // Also if it has those of an earlier version, or not those for development.
  if (['@postroom/client', 'vite'].some((name) => !existsSync(join(folder, 'node_modules', name)))) {
    console.log('Installing the packages of the app …');
    await runToEnd('npm', ['ci', '--include=dev'], { cwd: folder });
  }
  const node = await startServer();
  const app = programs.start(
    'the app',
    process.execPath,
    [join(folder, 'node_modules/vite/bin/vite.js'), '--port', values['app-port'], '--strictPort'],
    {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1', VITE_POSTROOM_URL: `${node.url}/graphql` },
      ready: /Local:/,
      stopSignal: 'SIGTERM',
    },
  );
  await app.ready;
  void app.exited.then(() => stop());
  void stopIfItFails(() => restartServer(node));
  console.log(`The app is at ${appUrl}, its server at ${node.url}/graphql. Stop both with Ctrl-C.`);
}

function startServer(): Promise<Node> {
  return startNode(programs, 'node', settings, (line) => {
    if (line.startsWith('{')) console.log(line);
  });
}

/** Starts the server again whenever it ends, so that the app can be seen to reconnect. */
async function restartServer({ program }: Node): Promise<void> {
  const reason = await program.exited;
  if (isStopping) return;
  console.log(`The server has ended: ${reason}. It is started again …`);
  await wait(restartPauseMs);
  if (isStopping) return;
  const node = await startServer();
  console.log('The server is running again.');
  await restartServer(node);
}

async function stopIfItFails(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!isStopping) {
      console.error(`example: ${error instanceof Error ? error.message : error}`);
      process.exitCode = 1;
    }
    await stop();
  }
}

async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await programs.stop();
}
