import type { IncomingMessage } from 'node:http';

/**
 * Who called, by address. Behind `hops` proxies of one's own each has added the address it saw to X-Forwarded-For; what
 * stands further left was sent by the caller and proves nothing.
 */
export function addressOf({ headers, socket }: IncomingMessage, hops: number): string {
  const direct = socket.remoteAddress ?? '';
  if (hops === 0) return networkOf(direct);
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  return networkOf(forwarded.at(-hops)?.trim() || direct);
}

/** One caller may hold all addresses of an IPv6 /64. */
export function networkOf(address: string): string {
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  if (!plain.includes(':')) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const groups = plain.includes('::')
    ? [...left, ...Array(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
    : left;
  return groups.slice(0, 4).join(':');
}
