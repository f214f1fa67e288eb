import { ClientError } from '../../errors.ts';
import type { Log } from '../../log/log.ts';
import { RecentReports } from '../../log/recent-reports.ts';

/** The log must not fill while the issuer is down. */
const warningIntervalMs = 60_000;

/** Logs details that clients do not receive: why a token is refused, and how the issuer fails. It never logs a token. */
export type IssuerLog = (error: unknown) => void;

export function createIssuerLog(log: Pick<Log, 'debug' | 'warn'>): IssuerLog {
  const recent = new RecentReports({ intervalMs: warningIntervalMs });
  return (error) => {
    if (!(error instanceof ClientError) || error.cause === undefined) return;
    const { code, cause } = error;
    if (code === 'UNAUTHENTICATED') log.debug({ reason: cause }, 'access token refused');
    if (code === 'BAD_GATEWAY' && recent.isDue(code)) log.warn({ err: cause }, 'the issuer of access tokens fails');
  };
}
