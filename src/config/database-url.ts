import { BadSetting } from './bad-setting.ts';

const postgresForm = 'postgres://user:password@host/database';
/** The user, password and host, then a database: without one the server would choose that with the name of the user. */
const postgresParts = /^postgres(ql)?:\/\/[^/?#]*\/[^/?#@]+(\?|$)/;

/** Whether a `DATABASE_URL` is that of a server, which several nodes may share. */
export function isPostgresUrl(url: string): boolean {
  return /^postgres(ql)?:/.test(url);
}

/** Modes that the driver treats as `verify-full`, with a warning, are replaced by it. @throws BadSetting */
export function parseDatabaseUrl(url: string): string {
  if (/^sqlite:./.test(url)) return url;
  if (!isPostgresUrl(url)) {
    throw new BadSetting('DATABASE_URL', url, `must be sqlite: with a path, or sqlite::memory:, or ${postgresForm}`);
  }
  // The host may be missing: then it is a parameter, the folder of a socket.
  if (!postgresParts.test(url) || !URL.canParse(url.replace('@/', '@host/'))) {
    const rule = `must be ${postgresForm}; special characters of the password must be percent-encoded`;
    throw new BadSetting('DATABASE_URL', url, rule);
  }
  if (url.includes('uselibpqcompat=')) return url;
  return url.replace(/(?<=[?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, 'verify-full');
}
