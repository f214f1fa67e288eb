import type { Log } from '../log/log.ts';

/** An event for the operator: a sign-in, a refusal, or a change of rights. It never contains a secret. */
type AuditEvent =
  | { event: 'signedIn' | 'signedInWithLink' | 'passwordChanged' | 'accountDeleted'; userId: string }
  | { event: 'signedUp'; userId: string; invitationId?: string }
  /** By the operator. */
  | { event: 'signedUp' | 'passwordChanged' | 'signInLinkCreated'; userId: string; byUserId: null }
  /**
   * `userId`: the account that was tried, or null if it does not exist. The input is not logged, since it may be a
   * password.
   */
  | { event: 'signInRefused'; userId: string | null; address: string }
  | { event: 'credentialsRefused'; reason: string; address: string }
  /** `byUserId`: null for the operator. */
  | { event: 'apiKeyCreated' | 'apiKeyRevoked'; keyId: string; byUserId: string | null; scopes?: readonly string[] }
  | { event: 'roleChanged'; userId: string; role: string }
  | { event: 'memberAdded' | 'memberRemoved'; roomId: string; userId: string; byUserId: string }
  | { event: 'invitationCreated' | 'invitationRevoked'; invitationId: string; roomId: string; byUserId: string }
  /** `userId`: null for a client without credentials. */
  | { event: 'connectionEnded'; connectionId: string; userId: string | null; address: string; byUserId: string }
  /** `until`: in ISO 8601; null if the mute was ended. */
  | { event: 'userMuted'; userId: string; roomId: string; until: string | null; byUserId: string };

export type Audit = (event: AuditEvent) => void;

/** Writes audit events to the log. */
export function auditTo(log: Pick<Log, 'info'>): Audit {
  return (event) => log.info({ audit: event }, event.event);
}
