import type { GraphQLResolveInfo } from 'graphql';
import type { StreamEvent } from '../data/event-log/events.ts';
import type { InboxRequest } from '../live/inbox/inbox-request.ts';
import type { PresentViewer } from '../live/presence/own-presence.ts';
import type { SubscribeRequest } from '../live/stream.ts';
import type { Context } from './context.ts';

/**
 * What the resolver of a subscription returns. It is not an iterable, because an event or a state is read once for many
 * subscribers.
 */
export type SubscriptionSource = RoomEventSource | InboxSource | PresenceSource | { type: 'serverStatus' };

/** The events of a room. */
export interface RoomEventSource extends Pick<SubscribeRequest, 'roomId' | 'head'> {
  type: 'roomEvents';
  /** The cursor to resume after. */
  after: string | null | undefined;
  /** Maps an event to the value of the field; undefined leaves the event out. */
  project: (event: StreamEvent, context: Context) => unknown;
}

/** The events of all rooms of a user. */
export interface InboxSource extends Pick<InboxRequest, 'rooms' | 'after'>, Pick<RoomEventSource, 'project'> {
  type: 'inbox';
  userId: string;
}

/** The presence in a room. */
interface PresenceSource {
  type: 'presence';
  roomId: string;
  /** Who is present while the stream is open; null for a viewer who is not shown. */
  presentViewer: PresentViewer | null;
}

/** Resolves a field of `Subscription`. */
export type Subscribe<Arguments> = (
  root: unknown,
  args: Arguments,
  context: Context,
  info: GraphQLResolveInfo,
) => Promise<SubscriptionSource>;
