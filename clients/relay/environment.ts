import { createPostroomClient } from '@postroom/client';
import { createClient, type Sink } from 'graphql-ws';
import { Environment, Network, Observable, RecordSource, type RequestParameters, Store } from 'relay-runtime';

/** The text of a document, or its id if the compiler has a `persistConfig`: the modules contain no texts then. */
const named = ({ id, text }: RequestParameters) => (text === null ? { query: '', documentId: id } : { query: text });

export function createEnvironment(url: string, token?: string) {
  const { live } = createPostroomClient({ url, createClient, token });
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const network = Network.create(
    async (request, variables) => {
      const body = JSON.stringify({ ...named(request), variables });
      return (await fetch(url, { method: 'POST', headers, body })).json();
    },
    (request, variables) => Observable.create((sink) => live.subscribe({ ...named(request), variables }, sink as Sink)),
  );
  return { environment: new Environment({ network, store: new Store(new RecordSource()) }), live };
}
