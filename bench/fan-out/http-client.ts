import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: 16 });

export interface Post {
  port: number;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** The answer's body; fails unless the status is 200. */
export function post({ port, path, headers = {}, body = '' }: Post): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const length = String(Buffer.byteLength(body));
  const sent = request({ agent, port, path, method: 'POST', headers: { ...headers, 'content-length': length } });
  sent.once('error', reject);
  sent.once('response', (response) => {
    let text = '';
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
