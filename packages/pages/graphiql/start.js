/* The page in the browser. page.ts of the server defines `workers`, `options`, `roomPlaceholder` and `whoMayTry`. */

import { PageSession } from '../session.ts';
import { showBar } from './bar.js';
import { Client } from './client.ts';
import { Guide } from './guide.js';
import { LivePanel } from './live-panel.js';
import { storage } from './storage.js';
import { Workspace } from './workspace.js';

const session = new PageSession('postroom:session');
const client = new Client(new URL(location.pathname, location.origin), session);
const panel = new LivePanel();
const workspace = new Workspace(panel);

/** Sends the requests of GraphiQL, with the credentials of its Headers editor or of the session. */
async function fetcher(request, { headers: typed, documentAST } = {}) {
  const headers = new Headers(typed);
  // A scheme without a token is not a credential yet.
  if (/^(bearer)?$/i.test(headers.get('authorization') ?? '')) headers.delete('authorization');
  const operation = operationOf(request, documentAST);
  if (operation?.operation === 'subscription') return workspace.run(client.stream(request, headers));
  const result = await client.post(request, headers);
  const created = operation?.selectionSet.selections.find(({ name }) => name?.value === 'createRoom');
  const room = created && result.data?.[(created.alias ?? created.name).value]?.room?.id;
  if (room) workspace.fillRoom(room);
  return result;
}

function operationOf({ operationName }, document) {
  const operations = document?.definitions.filter(({ kind }) => kind === 'OperationDefinition') ?? [];
  return operations.find(({ name }) => name?.value === operationName) ?? operations[0];
}

const workerUrls = Object.fromEntries(
  Object.entries(workers).map(([label, source]) => [
    label,
    URL.createObjectURL(new Blob([source], { type: 'text/javascript' })),
  ]),
);
self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_module, label) => workerUrls[label] };

const graphiql = {
  ...options,
  fetcher,
  storage,
  // Typed headers contain tokens.
  shouldPersistHeaders: false,
  onTabChange: (state) => workspace.onTabChange(state),
  // The operation is not written to the address, because the browser stores addresses.
  onEditQuery: () => {},
};

// Earlier versions stored typed headers.
storage.removeItem('graphiql:headers');
showBar({ client, session, workspace, panel, guide: new Guide(session) });
// The tabs change their width when a font is loaded, and would move away from the first click.
void Promise.allSettled([...document.fonts].map((font) => font.load())).then(() => {
  YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), graphiql);
});
