import { createHash, hash } from 'node:crypto';
import { yieldWhenDue } from '../../common/event-loop.ts';

const stepBytes = 65_536;

/** A strong entity tag: it differs for different bytes and media types. `content` is the content or its digest. */
export function createEntityTag(mediaType: string, content: string | Buffer): string {
  const digest = hash('sha256', `${mediaType}\n${content}`, 'base64url');
  return `"${digest.slice(0, 27)}"`;
}

/** A digest of a long content. The event loop runs other work between its steps: the digest of 8 MB takes 10 ms. */
export async function digestInSteps(content: Buffer): Promise<string> {
  const digest = createHash('sha256');
  for (let start = 0; start < content.length; start += stepBytes) {
    await yieldWhenDue();
    digest.update(content.subarray(start, start + stepBytes));
  }
  return digest.digest('base64url');
}

/** Whether an `If-None-Match` header names the tag; the comparison is weak (RFC 9110, 13.1.2). */
export function namesEntityTag(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(entityTag.replace(/^W\//, ''));
}
