import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { extname } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { hashSources, joinModules, logo, normaliseLines, type Page, packPage, toIconUrl } from '../pages/page.ts';

/* Runs in a worker thread, as the page of GraphiQL. */

/** The files of the folder `browser`; a file comes after those that it imports. */
const modules = [
  'operations',
  'session',
  'pause',
  'client',
  'format',
  'elements',
  'table',
  'history',
  'plots',
  'status-view',
  'status-stream',
  'end-dialog',
  'connections-view',
  'sign-in-view',
  'start',
];

/** Modules are TypeScript in the repository, and JavaScript in the npm package. */
const extension = extname(import.meta.url);

parentPort?.postMessage(await createPage());

/** The console as one page that includes an unmodified uPlot. */
async function createPage(): Promise<Page> {
  const [html, ownStyles, plotStyles, plotScript] = await Promise.all([
    readOwn('page.html'),
    readOwn('page.css'),
    readFile(new URL('uPlot.min.css', import.meta.resolve('uplot')), 'utf8'),
    readFile(new URL('uPlot.iife.min.js', import.meta.resolve('uplot')), 'utf8'),
  ]);
  const own = await Promise.all(modules.map(readModule));
  const scripts = [plotScript, `{${joinModules(own)}}`].map(normaliseLines);
  const styles = [plotStyles, ownStyles].map(normaliseLines);
  const content = html
    .replace('<!-- icon -->', () => `<link rel="icon" href="${toIconUrl(logo)}">`)
    .replace('<!-- styles -->', () => styles.map((style) => `<style>${style}</style>`).join('\n'))
    .replace('<!-- scripts -->', () => scripts.map((script) => `<script>${script}</script>`).join('\n'));
  return packPage(content, [
    `script-src ${hashSources(scripts)}`,
    `style-src ${hashSources(styles)}`,
    'img-src data:',
    // No text can become HTML.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]);
}

function readOwn(path: string): Promise<string> {
  return readFile(new URL(path, import.meta.url), 'utf8');
}

async function readModule(name: string): Promise<string> {
  const code = await readOwn(`browser/${name}${extension}`);
  return extension === '.ts' ? stripTypeScriptTypes(code) : code;
}
