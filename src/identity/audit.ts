/** What an operator wants to know later: who came, who was refused, who got which rights. Never a secret. */
export type AuditEvent =
  | { event: 'signedUp' | 'signedIn' | 'passwordChanged' | 'accountDeleted'; userId: string }
  | { event: 'signInRefused'; email: string }
  | { event: 'credentialsRefused'; reason: string; address: string }
  | { event: 'apiKeyCreated' | 'apiKeyRevoked'; keyId: string; byUserId: string; scopes?: readonly string[] }
  | { event: 'memberAdded' | 'memberRemoved'; roomId: string; userId: string; byUserId: string };

export type Audit = (event: AuditEvent) => void;
