import { parentPort, workerData } from 'node:worker_threads';
import { css, editorWorkerService, graphqlWorker, js, jsonWorker } from '@graphql-yoga/render-graphiql/graphiql';
import { createHtmlPage, logo, readWebSocketClient } from '../pages/page.ts';
import { roomPlaceholder, tabs } from './tabs.ts';

/* Runs in a worker thread: the module of the page takes 0.4 s and 60 MB to load, and streams must not wait for it. */

const workers = { editorWorkerService, json: jsonWorker, graphql: graphqlWorker };
const options = { title: 'Postroom', logo, defaultTabs: tabs, defaultEditorToolsVisibility: 'variables' };

/** GraphiQL as one page that includes the workers of its editors, its fonts, and an unmodified graphql-ws client. */
const page = await createHtmlPage(import.meta.url, {
  // The own script, which comes last, registers the workers; GraphiQL looks a worker up when it first needs it.
  scripts: [js, await readWebSocketClient()],
  constants: { workers, options, roomPlaceholder, ...workerData },
  styles: [css],
  // The editor writes its own style elements.
  policy: () => ["style-src 'unsafe-inline'", 'font-src data:', 'img-src data:', 'worker-src blob:'],
});
parentPort?.postMessage(page);
