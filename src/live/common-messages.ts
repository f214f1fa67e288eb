import type { CredentialWatch, Revocation } from '../identity/credential-watch.ts';
import { type Bus, type BusMessage, commonTopic, type NodeMessage } from './bus/bus.ts';
import type { FanOut } from './fan-out.ts';
import type { Presence } from './presence/presence.ts';

interface CommonMessageParts {
  fanOut: FanOut;
  presence: Presence;
  credentials: CredentialWatch;
  onError: (error: unknown) => void;
}

/**
 * Does on this node what follows from a revocation of credentials or an erasure of content, on whichever node it was
 * committed. Resolves to a function that unsubscribes from the bus.
 */
export function followCommonMessages(bus: Bus, parts: CommonMessageParts): Promise<() => void> {
  return bus.subscribe(commonTopic, (message) => handle(message, parts));
}

function handle(message: BusMessage, parts: CommonMessageParts): void {
  switch (message.type) {
    case 'contentErased':
      return parts.fanOut.groups.clearReplayed();
    case 'userDeleted':
      parts.fanOut.groups.clearReplayed();
      return revoke(message, parts);
    case 'keyRevoked':
    case 'passwordChanged':
      return revoke(message, parts);
    case 'anythingMayHaveChanged':
      return checkAll(parts);
    // The messages of other topics.
    default:
      message satisfies { roomId: string } | { userId: string } | NodeMessage;
  }
}

function revoke(revocation: Revocation, { presence, credentials }: CommonMessageParts): void {
  presence.forget(revocation);
  credentials.revoke(revocation);
}

/** Checks everything again, because a message may be lost: a revocation, an erasure, or an event of any room. */
function checkAll({ fanOut, credentials, onError }: CommonMessageParts): void {
  fanOut.groups.clearReplayed();
  fanOut.compareHeadsSoon();
  credentials.checkAll().catch(onError);
}
