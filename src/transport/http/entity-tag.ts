import { hash } from 'node:crypto';

/** A strong entity tag: other bytes or another media type, another tag. */
export function createEntityTag(mediaType: string, content: string): string {
  return `"${hash('sha256', `${mediaType}\n${content}`, 'base64url').slice(0, 27)}"`;
}

/** Whether an `If-None-Match` names it; the comparison is weak (RFC 9110, 13.1.2). */
export function namesEntityTag(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(entityTag.replace(/^W\//, ''));
}
