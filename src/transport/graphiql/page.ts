import { readFile } from 'node:fs/promises';
import { parentPort } from 'node:worker_threads';
import { css, editorWorkerService, graphqlWorker, js, jsonWorker } from '@graphql-yoga/render-graphiql/graphiql';
import {
  hashSources,
  iconUrl,
  joinModules,
  logo,
  normaliseLines,
  type Page,
  packPage,
  readText,
} from '../pages/page.ts';
import { roomPlaceholder, tabs } from './tabs.ts';

/* Runs in a worker thread: the module of the page takes 0.4 s and 60 MB to load, and streams must not wait for it. */

parentPort?.postMessage(await createPage());

/** GraphiQL as one page that includes the workers of its editors, its fonts, and an unmodified graphql-ws client. */
async function createPage(): Promise<Page> {
  const client = await readFile(new URL('../umd/graphql-ws.min.js', import.meta.resolve('graphql-ws')), 'utf8');
  const own = await joinModules(import.meta.url, '.js');
  // The last module registers the workers; GraphiQL looks a worker up when it first needs it.
  const scripts = [js, client, `{${toConstants()}\n${own}}`].map(normaliseLines);
  return packPage(toHtml(scripts, css + (await readText(import.meta.url, 'page.css'))), [
    `script-src ${hashSources(scripts)}`,
    // The editor writes its own style elements.
    "style-src 'unsafe-inline'",
    'font-src data:',
    'img-src data:',
    'worker-src blob:',
  ]);
}

/** The constants that the modules use. */
function toConstants(): string {
  const workers = { editorWorkerService, json: jsonWorker, graphql: graphqlWorker };
  const options = {
    title: 'Postroom',
    logo,
    defaultTabs: tabs,
    defaultEditorToolsVisibility: 'variables',
  };
  return `const workers = ${toScript(workers)}, options = ${toScript(options)}, roomPlaceholder = ${toScript(roomPlaceholder)};`;
}

/** A value as a JavaScript expression that cannot close its script element. */
function toScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

function toHtml(scripts: readonly string[], styles: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Postroom</title>
<link rel="icon" href="${iconUrl}">
<style>${styles}</style>
</head>
<body class="no-focus-outline">
<noscript>GraphiQL needs JavaScript.</noscript>
<div id="page" class="graphiql-container">
<header>
<button id="try-it" class="graphiql-button" type="button" title="Signs up an account, creates a room and shows its events" hidden>Try it</button>
<span id="notice" role="status"></span>
<span id="user"></span>
<button id="sign-out" class="graphiql-button" type="button" hidden>Sign out</button>
</header>
<div id="root"></div>
<aside id="live" aria-label="Live events" hidden>
<header><span id="live-state" role="status"></span><button id="live-close" class="graphiql-button" type="button">Close</button></header>
<ol id="live-events"></ol>
</aside>
</div>
${scripts.map((script) => `<script>${script}</script>`).join('\n')}
</body>
</html>
`;
}
