import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Worker } from 'node:worker_threads';
import { createGunzip } from 'node:zlib';
import { namesEntityTag } from '../http/entity-tag.ts';
import type { RenderedPage } from './render.ts';

/** Writes GraphiQL as one page, which loads nothing else and sends only operations. */
export async function writeGraphiql(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const page = await findPage();
  const shared = headersOf(page);
  if (namesEntityTag(request.headers['if-none-match'], page.etag)) {
    response.writeHead(304, shared).end();
    return;
  }
  const content = { ...shared, 'content-type': 'text/html; charset=utf-8' };
  if (takesGzip(request.headers['accept-encoding'])) {
    response.writeHead(200, { ...content, 'content-encoding': 'gzip', 'content-length': page.gzip.length });
    response.end(request.method === 'HEAD' ? undefined : page.gzip);
    return;
  }
  response.writeHead(200, { ...content, 'content-length': page.length });
  if (request.method === 'HEAD') response.end();
  else await pipeline(createGunzip().end(page.gzip), response);
}

let rendered: Promise<RenderedPage> | undefined;

function findPage(): Promise<RenderedPage> {
  rendered ??= render().catch((error) => {
    rendered = undefined;
    throw error;
  });
  return rendered;
}

/**
 * Renders in a worker thread: the module of the page takes 0.4 s and 60 MB to load, and streams must not wait for it.
 */
async function render(): Promise<RenderedPage> {
  const worker = new Worker(new URL('./render.ts', import.meta.url));
  worker.unref();
  const [page] = await once(worker, 'message');
  return page;
}

function headersOf({ etag, contentSecurityPolicy }: RenderedPage): Record<string, string> {
  return {
    etag,
    'cache-control': 'no-cache',
    vary: 'accept, accept-encoding',
    'content-security-policy': contentSecurityPolicy,
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };
}

/** Whether `Accept-Encoding` allows gzip; a missing header does not. */
function takesGzip(acceptEncoding = ''): boolean {
  const codings = acceptEncoding.split(',').map((coding) => coding.replaceAll(/\s/g, '').toLowerCase());
  const coding = codings.find((one) => /^gzip(;|$)/.test(one)) ?? codings.find((one) => /^\*(;|$)/.test(one));
  return coding !== undefined && !/;q=0(\.0*)?$/.test(coding);
}
