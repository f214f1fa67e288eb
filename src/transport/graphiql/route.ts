import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Worker } from 'node:worker_threads';
import { createGunzip } from 'node:zlib';
import { namesEntityTag } from '../http/entity-tag.ts';
import type { Page } from './page.ts';

/** Answers with GraphiQL as one page, which loads nothing else and sends only operations. */
export async function writeGraphiql(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const page = await loadPage();
  const shared = headersOf(page);
  if (namesEntityTag(request.headers['if-none-match'], page.etag)) {
    response.writeHead(304, shared).end();
    return;
  }
  const content = { ...shared, 'content-type': 'text/html; charset=utf-8' };
  if (acceptsGzip(request.headers['accept-encoding'])) {
    response.writeHead(200, { ...content, 'content-encoding': 'gzip', 'content-length': page.gzip.length });
    response.end(request.method === 'HEAD' ? undefined : page.gzip);
    return;
  }
  response.writeHead(200, { ...content, 'content-length': page.length });
  if (request.method === 'HEAD') response.end();
  else await pipeline(createGunzip().end(page.gzip), response);
}

let cached: Promise<Page> | undefined;

function loadPage(): Promise<Page> {
  cached ??= createPage().catch((error) => {
    cached = undefined;
    throw error;
  });
  return cached;
}

async function createPage(): Promise<Page> {
  const worker = new Worker(new URL('./page.ts', import.meta.url));
  worker.unref();
  const [page] = await once(worker, 'message');
  return page;
}

function headersOf({ etag, contentSecurityPolicy }: Page): Record<string, string> {
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
function acceptsGzip(acceptEncoding = ''): boolean {
  const codings = acceptEncoding.toLowerCase().replaceAll(/\s/g, '').split(',');
  const coding = codings.find((name) => /^gzip(;|$)/.test(name)) ?? codings.find((name) => /^\*(;|$)/.test(name));
  return coding !== undefined && !/;q=0(\.0*)?$/.test(coding);
}
