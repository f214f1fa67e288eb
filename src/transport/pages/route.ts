import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { yieldWhenDue } from '../../common/event-loop.ts';
import type { Config } from '../../config/config.ts';
import type { Exchange, Serve } from '../http/exchange.ts';
import { assertNotCrossSite } from '../http/origins.ts';
import { namesEntityTag } from '../http/responses.ts';
import type { HtmlPage } from './page.ts';

export const writeConsole = createPageRoute(new URL('../console/page.ts', import.meta.url));

const createGraphiql = (whoMayTry: string) =>
  createPageRoute(new URL('../graphiql/page.ts', import.meta.url), { whoMayTry });
const graphiql = {
  everybody: createGraphiql('everybody'),
  users: createGraphiql('users'),
  nobody: createGraphiql('nobody'),
};

export const writeGraphiql: Serve = (exchange) => graphiql[whoMayTry(exchange.parts.config)](exchange);

/** Who may run the demo of GraphiQL, which signs up unless somebody is signed in. */
function whoMayTry({ signUp, trustedDocuments }: Config): keyof typeof graphiql {
  if (trustedDocuments !== undefined) return 'nobody';
  return signUp === 'open' ? 'everybody' : 'users';
}

/**
 * The result answers with a page, which is created when it is first requested, by a worker thread that posts it as its
 * only message and gets `constants`. @throws RateLimited: each answer copies some megabytes.
 */
function createPageRoute(script: URL, constants: Record<string, string> = {}): Serve {
  let cached: Promise<HtmlPage> | undefined;
  return async (exchange) => {
    // The pages of other origins must not use up the rate of their visitors.
    if (exchange.request.headers['sec-fetch-mode'] !== 'navigate') assertNotCrossSite(exchange.request);
    await exchange.parts.engine.chargeAddress(exchange.address);
    cached ??= runWorker(script, constants).catch((error) => {
      cached = undefined;
      throw error;
    });
    await writePage(await cached, exchange);
  };
}

async function runWorker(script: URL, workerData: Record<string, string>): Promise<HtmlPage> {
  const worker = new Worker(script, { workerData });
  worker.unref();
  const [page] = await once(worker, 'message');
  return page;
}

async function writePage(page: HtmlPage, { request, response }: Exchange): Promise<void> {
  const shared = headersOf(page);
  if (namesEntityTag(request.headers['if-none-match'], page.etag)) return void response.writeHead(304, shared).end();
  const isCompressed = acceptsGzip(request.headers['accept-encoding']);
  const content = isCompressed ? page.gzip : page.html;
  await yieldWhenDue();
  response.writeHead(200, {
    ...shared,
    'content-type': 'text/html; charset=utf-8',
    ...(isCompressed && { 'content-encoding': 'gzip' }),
    'content-length': content.length,
  });
  response.end(request.method === 'HEAD' ? undefined : content);
}

function headersOf({ etag, contentSecurityPolicy }: HtmlPage): Record<string, string> {
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
