import type { Key } from '../../data/lists/key-ranges.ts';
import type { StreamTransport } from '../live-counts.ts';

/** A client with an open WebSocket or event stream. */
export interface Client {
  id: string;
  viewerId: string | null;
  address: string;
  transport: StreamTransport;
  /** In milliseconds since 1970. */
  since: number;
  /** The name of its node. */
  node: string;
  subscriptions: number;
  bytesWaiting: number;
  lagMs: number;
}

/** Conditions that clients must meet; one that is absent or null does not apply. */
export interface ClientFilter {
  viewerId?: string | null | undefined;
  transport?: StreamTransport | null | undefined;
  address?: string | null | undefined;
}

/** The order of clients: by the time of their start. */
export function keyOf({ since, id }: Pick<Client, 'since' | 'id'>): Key {
  return [since, id];
}

export function isBefore([time, id]: Key, [otherTime, otherId]: Key): boolean {
  return time < otherTime || (time === otherTime && id < otherId);
}

export function meets(client: Pick<Client, 'viewerId' | 'transport' | 'address'>, filter: ClientFilter): boolean {
  const { viewerId, transport, address } = filter;
  if (viewerId != null && client.viewerId !== viewerId) return false;
  if (transport != null && client.transport !== transport) return false;
  return address == null || client.address === address;
}
