import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** With a wrong TRUST_PROXY a client could choose a long one. */
const maxLength = 100;
/** A proxy adds one of them, if it adds anything. */
const proxyHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'];

/** The address of the client, by which its limits are counted. `hops`: the number of the operator's proxies. */
export function addressOf({ headers, socket }: IncomingMessage, hops: number): string {
  return networkOf((hops > 0 && forwardedAddress(headers, hops)) || (socket.remoteAddress ?? '')).slice(0, maxLength);
}

/** The whole address of the client, or '' if it is unknown, because the request passed a proxy that is not one of the `hops`. */
export function exactAddressOf({ headers, socket }: IncomingMessage, hops: number): string {
  if (!proxyHeaders.some((name) => name in headers)) return socket.remoteAddress ?? '';
  return hops > 0 ? forwardedAddress(headers, hops) : '';
}

/** Each hop has appended the address of its peer. Entries further left were sent by the client and cannot be trusted. */
function forwardedAddress(headers: IncomingHttpHeaders, hops: number): string {
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  return withoutPort(forwarded.at(-hops)?.trim() ?? '');
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
