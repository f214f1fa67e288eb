import { hash } from 'node:crypto';

/** A strong entity tag: it differs for different bytes and for different media types. */
export function createEntityTag(mediaType: string, content: string | Buffer): string {
  const head = `${mediaType}\n`;
  const bytes = typeof content === 'string' ? head + content : Buffer.concat([Buffer.from(head), content]);
  const digest = hash('sha256', bytes, 'base64url');
  return `"${digest.slice(0, 27)}"`;
}

/** Whether an `If-None-Match` header names the tag; the comparison is weak (RFC 9110, 13.1.2). */
export function namesEntityTag(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(entityTag.replace(/^W\//, ''));
}
