import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { hashSources, iconUrl, joinModules, normaliseLines, type Page, packPage, readText } from '../pages/page.ts';

/* Runs in a worker thread, as the page of GraphiQL. */

parentPort?.postMessage(await createPage());

/** The console as one page that includes an unmodified uPlot. */
async function createPage(): Promise<Page> {
  const [html, ownStyles, plotStyles, plotScript] = await Promise.all([
    readText(import.meta.url, 'page.html'),
    readText(import.meta.url, 'page.css'),
    readFile(new URL('uPlot.min.css', import.meta.resolve('uplot')), 'utf8'),
    readFile(new URL('uPlot.iife.min.js', import.meta.resolve('uplot')), 'utf8'),
  ]);
  const ownScript = await joinModules(import.meta.url, extname(import.meta.url));
  const scripts = [plotScript, `{${ownScript}}`].map(normaliseLines);
  const styles = [plotStyles, ownStyles].map(normaliseLines);
  const content = html
    .replace('<!-- icon -->', () => `<link rel="icon" href="${iconUrl}">`)
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
