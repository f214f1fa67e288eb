/** The password in a URL; it is hidden in messages. */
const password = /(?<=:\/\/[^/:@]*:)[^/]*@/;

/** A setting with a bad value; the message is one line that names the setting, the value and what is allowed. */
export class BadSetting extends Error {
  constructor(name: string, value: string, allowed: string) {
    super(`${name}=${JSON.stringify(value.replace(password, '…@'))} is not allowed: ${allowed}`);
    this.name = 'BadSetting';
  }
}

type Environment = Record<string, string | undefined>;

const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

export interface OAuthSettings {
  issuer: string;
  audience: string;
  introspectionUrl: string | undefined;
  clientId: string | undefined;
  clientSecret: string | undefined;
}

export type Config = ReturnType<typeof readConfig>;
export type Limits = Config['limits'];

/** Reads all settings from the environment. @throws BadSetting, or an AggregateError if several settings are bad. */
export function readConfig(environment: Environment = process.env) {
  const bad: BadSetting[] = [];
  const config = readSettings(environment, bad);
  if (bad.length > 1) throw new AggregateError(bad);
  if (bad[0]) throw bad[0];
  return config;
}

/** The result is valid only if `bad` stays empty. */
function readSettings(environment: Environment, bad: BadSetting[]) {
  const text = (name: string, fallback: string) => environment[name] || fallback;
  /** The value returned for a bad setting is never used. */
  const checked = <T>(read: () => T): T => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof BadSetting)) throw error;
      bad.push(error);
      return undefined as T;
    }
  };
  const whole = (name: string, fallback: number, from: number, to?: number) =>
    checked(() => readWhole(name, text(name, String(fallback)), from, to));
  const flag = (name: string, fallback: boolean) => checked(() => readFlag(name, text(name, String(fallback))));
  return {
    host: text('HOST', '127.0.0.1'),
    port: whole('PORT', 4000, 0, 65_535),
    /** The URL at which clients reach the server; undefined: this machine only. */
    publicUrl: checked(() => readPublicUrl(environment['PUBLIC_URL'] || undefined)),
    /** The origins whose pages may send requests, in addition to the server's own origin. */
    allowedOrigins: checked(() => readOrigins(text('ALLOWED_ORIGINS', ''))),
    /**
     * A JSON file that maps ids to documents; only these documents are executed. Undefined: any document is executed.
     */
    trustedDocuments: environment['TRUSTED_DOCUMENTS'] || undefined,
    databaseUrl: checked(() => readDatabaseUrl(text('DATABASE_URL', 'sqlite:data/postroom.db'))),
    /** An Ed25519 private key in PEM; undefined: a key is created once and stored next to the database. */
    sessionKey: environment['SESSION_KEY'] || undefined,
    sessionHours: 24,
    /** Whether every operation except sign-up and sign-in needs credentials. */
    authRequired: flag('AUTH_REQUIRED', false),
    signInAttempts: whole('SIGN_IN_ATTEMPTS', 10, 1),
    oauth: checked(() => readOAuth((name) => text(name, ''))),
    introspection: flag('INTROSPECTION', true),
    graphiql: flag('GRAPHIQL', true),
    operationTimeoutMs: whole('OPERATION_TIMEOUT_MS', 10_000, 1),
    stallSeconds: whole('STALL_SECONDS', 60, 1),
    eventRetentionHours: whole('EVENT_RETENTION_HOURS', 168, 1),
    eventRetentionCount: whole('EVENT_RETENTION_COUNT', 100_000, 1),
    /** The number of the operator's own proxies before the server, each of which adds to X-Forwarded-For. */
    trustProxy: whole('TRUST_PROXY', 0, 0, 10),
    rate: { limit: whole('RATE_LIMIT', 100, 0), windowSeconds: whole('RATE_WINDOW_SECONDS', 60, 1, 86_400) },
    logLevel: checked(() => readLogLevel(text('LOG_LEVEL', 'info'))),
    limits: {
      depth: whole('LIMIT_DEPTH', 10, 1),
      cost: whole('LIMIT_COST', 5_000, 1),
      tokens: whole('LIMIT_TOKENS', 2_000, 1),
      aliases: whole('LIMIT_ALIASES', 30, 0),
      directives: whole('LIMIT_DIRECTIVES', 50, 0),
      comments: whole('LIMIT_COMMENTS', 100, 0),
      nesting: whole('LIMIT_NESTING', 100, 1, 500),
      documentBytes: whole('LIMIT_DOCUMENT_BYTES', 100_000, 1),
      bodyBytes: whole('LIMIT_BODY_BYTES', 1_000_000, 1),
      answerBytes: whole('LIMIT_ANSWER_BYTES', 10_000_000, 1_000),
      subscriptions: whole('LIMIT_SUBSCRIPTIONS', 100, 1),
      sockets: whole('LIMIT_SOCKETS', 1_000, 1),
      messages: whole('LIMIT_MESSAGES', 100, 1),
    },
  };
}

function readWhole(name: string, value: string, from: number, to = Number.MAX_SAFE_INTEGER): number {
  const range = to === Number.MAX_SAFE_INTEGER ? `of at least ${from}` : `from ${from} to ${to}`;
  if (!/^\d{1,15}$/.test(value) || Number(value) < from || Number(value) > to) {
    throw new BadSetting(name, value, `it is a whole number ${range}`);
  }
  return Number(value);
}

function readFlag(name: string, value: string): boolean {
  if (value !== 'true' && value !== 'false') throw new BadSetting(name, value, 'it is true or false');
  return value === 'true';
}

/** Settings that each setting of OAuth requires; without them it would have no effect. */
const oauthNeeds = {
  OAUTH_ISSUER: ['OAUTH_AUDIENCE'],
  OAUTH_AUDIENCE: ['OAUTH_ISSUER'],
  OAUTH_INTROSPECTION_URL: ['OAUTH_ISSUER', 'OAUTH_CLIENT_ID', 'OAUTH_CLIENT_SECRET'],
  OAUTH_CLIENT_ID: ['OAUTH_INTROSPECTION_URL'],
  OAUTH_CLIENT_SECRET: ['OAUTH_INTROSPECTION_URL'],
};

function readOAuth(text: (name: string) => string): OAuthSettings | undefined {
  const issuer = readUrl('OAUTH_ISSUER', text('OAUTH_ISSUER'));
  const introspectionUrl = readUrl('OAUTH_INTROSPECTION_URL', text('OAUTH_INTROSPECTION_URL'));
  for (const [name, needed] of Object.entries(oauthNeeds)) {
    const missing = needed.find((other) => text(other) === '');
    const shown = name === 'OAUTH_CLIENT_SECRET' ? '(hidden)' : text(name);
    if (text(name) !== '' && missing) throw new BadSetting(name, shown, `it needs ${missing} beside it`);
  }
  if (issuer === '') return undefined;
  return {
    issuer,
    audience: text('OAUTH_AUDIENCE'),
    introspectionUrl: introspectionUrl || undefined,
    clientId: text('OAUTH_CLIENT_ID') || undefined,
    clientSecret: text('OAUTH_CLIENT_SECRET') || undefined,
  };
}

function readUrl(name: string, value: string): string {
  if (value !== '' && !(URL.canParse(value) && /^https?:/.test(value))) {
    throw new BadSetting(name, value, 'it is an http or https address');
  }
  return value;
}

function readPublicUrl(url: string | undefined): string | undefined {
  const isFit = url === undefined || (/^https?:\/\/[^?#@]+$/.test(url) && URL.canParse(url));
  if (!isFit) throw new BadSetting('PUBLIC_URL', url, 'it is http:// or https:// with a host, and perhaps a path');
  return url;
}

function readOrigins(list: string): string[] {
  const origins = list.split(',').flatMap((origin) => origin.trim() || []);
  for (const origin of origins) {
    if (!/^https?:[^*]+$/.test(origin) || URL.parse(origin)?.origin !== origin) {
      const allowed = 'each is a scheme, a host and perhaps a port, as in https://app.example.org, between commas';
      throw new BadSetting('ALLOWED_ORIGINS', origin, allowed);
    }
  }
  return origins;
}

/** Whether there is a database for its scheme is checked when it is opened. */
function readDatabaseUrl(url: string): string {
  if (!/^[a-z]+:./.test(url)) throw new BadSetting('DATABASE_URL', url, 'it is a URL, as in sqlite:data/postroom.db');
  return url;
}

function readLogLevel(value: string): (typeof logLevels)[number] {
  const level = logLevels.find((known) => known === value);
  if (!level) throw new BadSetting('LOG_LEVEL', value, `it is one of ${logLevels.join(', ')}`);
  return level;
}
