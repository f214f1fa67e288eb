import type { IncomingMessage } from 'node:http';

/**
 * The address of the client. Each of the operator's `hops` proxies has appended the address of its peer to X-Forwarded-
 * For. Entries further left were sent by the client and cannot be trusted.
 */
export function addressOf({ headers, socket }: IncomingMessage, hops: number): string {
  const direct = socket.remoteAddress ?? '';
  if (hops === 0) return networkOf(direct);
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  return networkOf(withoutPort(forwarded.at(-hops)?.trim() || direct));
}

/** Some proxies append the port of their peer: `192.0.2.1:5678`, `[2001:db8::1]:443`. */
function withoutPort(address: string): string {
  const [, bracketed, plain] = /^(?:\[(.+)\](?::\d+)?|([^:]+):\d+)$/.exec(address) ?? [];
  return bracketed ?? plain ?? address;
}

/** The /64 prefix of an IPv6 address, because one client may own all addresses of a /64; an IPv4 address as it is. */
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
