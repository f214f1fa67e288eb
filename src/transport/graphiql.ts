import type { IncomingMessage, ServerResponse } from 'node:http';

/** The explorer, as one page; made when it is first asked for, since the module that holds it is large. */
export async function writeGraphiql(_request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const page = renderGraphiQL({ title: 'Postroom', endpoint: '/graphql', subscriptionsProtocol: 'WS' });
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
}
