/* Runs in the browser. `workers` and `options` stand before it, and the globals are those of the scripts before it. */

const endpoint = new URL(location.pathname, location.origin);

/** GraphiQL's requests, signed in by its Headers editor whichever way they go. */
function fetcher(request, { headers, documentAST } = {}) {
  const sent = new Headers(headers);
  // What the editor starts with is no credential yet.
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

/** Over a socket of its own, which goes on where it was when the server comes back. */
function subscribe(request, headers) {
  const seen = {};
  let wasLive = false;
  const client = graphqlWs.createClient({
    url: endpoint.href.replace(/^http/, 'ws'),
    connectionParams: () => ({ authorization: headers.get('authorization') ?? undefined, live: { seen } }),
    // Bad credentials get no better by waiting; a server that was there comes back. An attempt that fails is no CloseEvent.
    shouldRetry: ({ code }) => (code === undefined ? wasLive : code !== graphqlWs.CloseCode.Forbidden),
    on: {
      connected: () => {
        wasLive = true;
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

/** An event prints as nothing. */
function toReadable(fault) {
  if (fault instanceof CloseEvent) return { message: `The WebSocket was closed: ${fault.code} ${fault.reason}` };
  return fault instanceof Event ? { message: 'The WebSocket could not be opened.' } : fault;
}

/** Apart from what any other GraphiQL keeps for this host and port, whose tabs would stand here otherwise. */
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

// On its next start GraphiQL looks for the tab with these headers, which it puts down only when they change.
if (storage.length === 0) storage.setItem('graphiql:headers', options.defaultHeaders);

const workerUrls = Object.fromEntries(
  Object.entries(workers).map(([label, source]) => [
    label,
    URL.createObjectURL(new Blob([source], { type: 'text/javascript' })),
  ]),
);
self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_module, label) => workerUrls[label] };

// The operation stays out of the address, which the browser keeps.
const onEditQuery = () => {};

// Tabs that change their width while a font arrives move away under the first click.
void Promise.allSettled([...document.fonts].map((font) => font.load())).then(() => {
  YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), { ...options, fetcher, storage, onEditQuery });
});
