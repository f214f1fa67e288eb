import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildClientPackage } from './client-package.ts';
import { startNode } from './cluster/node.ts';
import { Programs, runToEnd } from './cluster/program.ts';
import { inRepository } from './repository.ts';
import { stopWithParent } from './stop-with-parent.ts';

/*
 * npm run example [-- --app-port N]
 *
 * Starts the server and the app of examples/chat. Settings apply to the server.
 */

const folder = inRepository('examples/chat');
const { values } = parseArgs({ options: { 'app-port': { type: 'string', default: '5173' } } });
const appUrl = `http://localhost:${values['app-port']}`;
const programs = new Programs();
let isStopping = false;

process.once('exit', () => programs.kill());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop());
stopWithParent();

try {
  await start();
} catch (error) {
  if (!isStopping) {
    console.error(`example: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
  await stop();
}

async function start(): Promise<void> {
  await buildClientPackage();
  if (!existsSync(join(folder, 'node_modules'))) {
    console.log('Installing the packages of the app …');
    await runToEnd('npm', ['ci'], { cwd: folder });
  }
  await runToEnd('npm', ['run', 'generate'], { cwd: folder });
  const origins = [process.env['ALLOWED_ORIGINS'], appUrl].filter(Boolean).join(',');
  const settings = { PORT: process.env['PORT'] || '4000', ALLOWED_ORIGINS: origins };
  const { program: node, url } = await startNode(programs, 'node', settings, (line) => {
    if (line.startsWith('{')) console.log(line);
  });
  const app = programs.start(
    'the app',
    process.execPath,
    [join(folder, 'node_modules/vite/bin/vite.js'), '--port', values['app-port'], '--strictPort'],
    {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1', VITE_POSTROOM_URL: `${url}/graphql` },
      ready: /Local:/,
      stopSignal: 'SIGTERM',
    },
  );
  await app.ready;
  for (const program of [node, app]) void program.exited.then(() => stop());
  console.log(`The app is at ${appUrl}, its server at ${url}/graphql. Stop both with Ctrl-C.`);
}

async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await programs.stop();
}
