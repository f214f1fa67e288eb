import { Agent, request } from 'node:http';

const sharedAgent = new Agent({ keepAlive: true, maxSockets: 16 });

export interface Post {
  port: number;
  path: string;
  headers?: Record<string, string>;
  body?: string;
  agent?: Agent;
}

/** Returns the body of the answer. @throws Error when the status is not 200. */
export function post({ port, path, headers = {}, body = '', agent = sharedAgent }: Post): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const length = String(Buffer.byteLength(body));
  const options = { host: '127.0.0.1', port, path, method: 'POST', agent };
  const sent = request({ ...options, headers: { ...headers, 'content-length': length } });
  sent.once('error', reject);
  sent.once('response', (response) => {
    let text = '';
    response.once('error', reject);
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    response.once('end', () => {
      if (response.statusCode === 200) resolve(text);
      else reject(new Error(`${path} answers ${response.statusCode}: ${text}`));
    });
  });
  sent.end(body);
  return promise;
}

export interface Operation {
  query: string;
  variables?: object;
  token?: string | undefined;
}

/** Returns the data of an operation. @throws Error when the operation fails. */
// biome-ignore lint/suspicious/noExplicitAny: its shape is the query's.
export async function ask(port: number, { query, variables, token }: Operation): Promise<any> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const text = await post({ port, path: '/graphql', headers, body: JSON.stringify({ query, variables }) });
  const { data, errors } = JSON.parse(text);
  if (errors) throw new Error(`${query} failed: ${JSON.stringify(errors)}`);
  return data;
}
