/* Runs in the browser. page.ts defines `workers` and `options`; the scripts before this one define the other globals. */

const endpoint = new URL(location.pathname, location.origin);

/** Sends the requests of GraphiQL, over HTTP or a WebSocket, with the credentials of its Headers editor. */
function fetcher(request, { headers, documentAST } = {}) {
  const sent = new Headers(headers);
  // The initial text of the editor has no token.
  if (/^(bearer)?$/i.test(sent.get('authorization') ?? '')) sent.delete('authorization');
  return isSubscription(request, documentAST) ? subscribe(request, sent) : post(request, sent);
}

function isSubscription({ operationName }, document) {
  const operations = document?.definitions.filter(({ kind }) => kind === 'OperationDefinition') ?? [];
  const chosen = operations.find(({ name }) => name?.value === operationName) ?? operations[0];
  return chosen?.operation === 'subscription';
}

async function post(request, headers) {
  headers.set('content-type', 'application/json');
  headers.set('accept', 'application/graphql-response+json, application/json');
  const response = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(request) });
  return response.json();
}

/** Subscribes over its own WebSocket, which resumes after its last event when the server is back. */
function subscribe(request, headers) {
  const seen = {};
  let wasConnected = false;
  const client = graphqlWs.createClient({
    url: endpoint.href.replace(/^http/, 'ws'),
    connectionParams: () => ({ authorization: headers.get('authorization') ?? undefined, live: { seen } }),
    // Refused credentials stay refused. A failed attempt to connect has no close code; it is retried if the server was
    // reached before.
    shouldRetry: ({ code }) => (code === undefined ? wasConnected : code !== graphqlWs.CloseCode.Forbidden),
    on: {
      connected: () => {
        wasConnected = true;
      },
      ping: (_received, payload) => Object.assign(seen, payload?.live),
      message: ({ type, id, payload }) => {
        if (type === 'next') seen[id] = payload.extensions?.live?.cursor ?? seen[id];
      },
    },
  });
  return {
    subscribe: (observer) => ({
      unsubscribe: client.subscribe(request, { ...observer, error: (fault) => observer.error(toReadable(fault)) }),
    }),
  };
}

/** GraphiQL cannot print an event of the browser. */
function toReadable(fault) {
  if (fault instanceof CloseEvent) return { message: `The WebSocket was closed: ${fault.code} ${fault.reason}` };
  return fault instanceof Event ? { message: 'The WebSocket could not be opened.' } : fault;
}

/** Separates the stored tabs from those of another GraphiQL on the same host and port. */
const prefix = 'postroom:';

function storedKeys() {
  return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
}

const storage = {
  getItem: (key) => localStorage.getItem(prefix + key),
  setItem: (key, value) => localStorage.setItem(prefix + key, value),
  removeItem: (key) => localStorage.removeItem(prefix + key),
  clear: () => storedKeys().map((key) => localStorage.removeItem(key)),
  get length() {
    return storedKeys().length;
  },
};

// At its next start GraphiQL looks for a tab with the stored headers, which it stores only when they change.
if (storage.length === 0) storage.setItem('graphiql:headers', options.defaultHeaders);

const workerUrls = Object.fromEntries(
  Object.entries(workers).map(([label, source]) => [
    label,
    URL.createObjectURL(new Blob([source], { type: 'text/javascript' })),
  ]),
);
self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_module, label) => workerUrls[label] };

// The operation is not written to the address, because the browser stores addresses.
const onEditQuery = () => {};

// The tabs change their width when a font is loaded, and would move away from the first click.
void Promise.allSettled([...document.fonts].map((font) => font.load())).then(() => {
  YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), { ...options, fetcher, storage, onEditQuery });
});
