import type { Log } from '../log.ts';

/** What an operator wants to know later: who came, who was refused, who got which rights. Never a secret. */
export type AuditEvent =
  | { event: 'signedUp' | 'signedIn' | 'passwordChanged' | 'accountDeleted'; userId: string }
  /** `userId`: whose account it was tried on, null for nobody's. What was typed is not noted: it may be a password. */
  | { event: 'signInRefused'; userId: string | null; address: string }
  | { event: 'credentialsRefused'; reason: string; address: string }
  /** `byUserId`: null for the operator. */
  | { event: 'apiKeyCreated' | 'apiKeyRevoked'; keyId: string; byUserId: string | null; scopes?: readonly string[] }
  | { event: 'roleChanged'; userId: string; role: string }
  | { event: 'memberAdded' | 'memberRemoved'; roomId: string; userId: string; byUserId: string };

export type Audit = (event: AuditEvent) => void;

/** As lines of the log. */
export function auditTo(log: Pick<Log, 'info'>): Audit {
  return (event) => log.info({ audit: event }, event.event);
}
