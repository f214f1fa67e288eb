import { readFile } from 'node:fs/promises';
import { parentPort } from 'node:worker_threads';
import { createHtmlPage, readWebSocketClient } from '../pages/page.ts';

/* Runs in a worker thread, as the page of GraphiQL. */

const readPlots = (name: string) => readFile(new URL(name, import.meta.resolve('uplot')), 'utf8');

/** The console as one page that includes an unmodified uPlot and graphql-ws. */
const page = await createHtmlPage(import.meta.url, {
  scripts: [await readPlots('uPlot.iife.min.js'), await readWebSocketClient()],
  styles: [await readPlots('uPlot.min.css')],
  policy: (styleSources) => [
    `style-src ${styleSources}`,
    'img-src data:',
    // No text can become HTML.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ],
});
parentPort?.postMessage(page);
