import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApolloClient } from '@apollo/client';
import type { Client as UrqlClient } from '@urql/core';
import type { Client as SseClient } from 'graphql-sse';
import type { Client, ClientOptions } from 'graphql-ws';
import { onTestFinished } from 'vitest';

interface DocumentedClients {
  live: Client;
  apollo: ApolloClient;
  urql: UrqlClient;
  resumable: () => Pick<ClientOptions, 'connectionParams' | 'on' | 'jsonMessageReplacer'>;
}

const root = new URL('../../..', import.meta.url).pathname;

/** The code blocks of docs/resume.md, by the file name in their first line. */
function readBlocks(): Map<string, string> {
  const text = readFileSync(join(root, 'docs/resume.md'), 'utf8');
  return new Map([...text.matchAll(/```js\n\/\/ (\S+)\n(.*?)```/gs)].map(([, name = '', code = '']) => [name, code]));
}

/** Writes the files of docs/resume.md into a folder, with this change of their code. Returns the path of the folder. */
function writeFiles(change: (code: string) => string): string {
  // Packages can be imported by name from a folder inside node_modules.
  const folder = mkdtempSync(join(root, 'node_modules/.resume-docs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const [file, code] of readBlocks()) writeFileSync(join(folder, file), change(code));
  return folder;
}

/** `subscribe` of the client of docs/resume.md for graphql-sse, unchanged except for the URL and the delay. */
export async function openDocumentedSse(
  url: string,
  retryWaitMs: number,
  headers: Record<string, string> = {},
): Promise<Pick<SseClient, 'subscribe'>> {
  const options = `url: '${url}',
  retry: () => new Promise((resolve) => setTimeout(resolve, ${retryWaitMs})),`;
  const folder = writeFiles((code) =>
    code.replace("url: 'http://127.0.0.1:4000/graphql',", options).replace(': {}),', `: ${JSON.stringify(headers)}),`),
  );
  return import(/* @vite-ignore */ join(folder, 'sse.js'));
}

const documentedWait = 'Math.random() * Math.min(5_000, 500 * 2 ** retries)';
const documentedToken = 'process.env.TOKEN';

/** The clients of docs/resume.md, unchanged except for the URL, the token and the delay before they reconnect. */
export async function openDocumented<Name extends keyof DocumentedClients>(
  name: Name,
  url: string,
  retryWaitMs: number,
  authentication?: { authorization: string },
): Promise<Pick<DocumentedClients, Name | 'live'>> {
  const token = authentication?.authorization.replace(/^Bearer /, '');
  const folder = writeFiles((code) =>
    code
      .replace('ws://127.0.0.1:4000/graphql', url.replace('http', 'ws'))
      .replace(documentedWait, String(retryWaitMs))
      .replace(documentedToken, token === undefined ? 'undefined' : `'${token}'`),
  );
  const load = (file: string) => import(/* @vite-ignore */ join(folder, file));
  const clients = { ...(await load('live.js')), ...(await load(`${name}.js`)) };
  onTestFinished(() => clients.live.dispose());
  return clients;
}
