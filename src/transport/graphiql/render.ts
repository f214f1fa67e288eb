import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { createPage } from './page.ts';

export interface RenderedPage {
  gzip: Uint8Array;
  /** The length of the uncompressed page, in bytes. */
  length: number;
  /** Weak, because it is the same for the compressed and the uncompressed page. */
  etag: string;
  contentSecurityPolicy: string;
}

async function render(): Promise<RenderedPage> {
  const { html, contentSecurityPolicy } = await createPage();
  const bytes = Buffer.from(html);
  const hash = createHash('sha256').update(bytes).update(contentSecurityPolicy).digest('base64url').slice(0, 22);
  return { gzip: gzipSync(bytes), length: bytes.length, etag: `W/"${hash}"`, contentSecurityPolicy };
}

parentPort?.postMessage(await render());
