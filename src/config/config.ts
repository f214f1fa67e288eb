import { BlockList } from 'node:net';
import { BadSetting, parseChoice, parseText } from './bad-setting.ts';
import { parseDatabaseUrl } from './database-url.ts';
import { findMistaken } from './mistaken-settings.ts';
import { parsePrivateKeys } from './private-keys.ts';
import { readSecretFiles } from './secret-files.ts';
import { readTracing } from './tracing-settings.ts';

type Environment = Record<string, string | undefined>;

const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

export type Config = ReturnType<typeof readConfig>;
export type Limits = Config['limits'];
export type OAuthSettings = NonNullable<Config['oauth']>;

/**
 * Reads all settings from the environment, and the files that it names.
 * @throws BadSetting, or an AggregateError of several.
 */
export function readConfig(environment: Environment = process.env) {
  const bad: unknown[] = [];
  const config = readSettings(environment, bad);
  if (bad.length > 1) throw new AggregateError(bad);
  if (bad.length > 0) throw bad[0];
  return config;
}

/** The text of a setting, or that of the file which is named instead; empty if it is absent. */
export function readSetting(name: string, environment: Environment = process.env): string {
  return readSecretFiles(environment, []).get(name)?.value ?? environment[name] ?? '';
}

/** The names of all environment variables that are settings. */
export function listSettings(): string[] {
  const names = new Set<string>();
  readConfig(new Proxy<Environment>({}, { get: (_, name) => void names.add(String(name)) }));
  return [...names];
}

/** The environment variables that are probably meant as settings, but have no effect. */
export function findMistakenSettings(environment: Environment = process.env) {
  return findMistaken(Object.keys(environment), listSettings());
}

/** The result is valid only if `bad` stays empty. An empty text counts as absent. */
function readSettings(environment: Environment, bad: unknown[]) {
  const secrets = readSecretFiles(environment, bad);
  const text = (name: string) => secrets.get(name)?.value ?? (environment[name] || undefined);
  const parsed = <T>(name: string, fallback: string, parse: (value: string, name: string) => T): T => {
    try {
      return parse(text(name) ?? fallback, name);
    } catch (error) {
      const path = secrets.get(name)?.path;
      const isOfFile = path !== undefined && error instanceof BadSetting;
      bad.push(isOfFile ? new BadSetting(name, `the content of ${path}`, error.rule) : error);
      return undefined as T;
    }
  };
  const optional = <T>(name: string, parse: (value: string, name: string) => T): T | undefined =>
    text(name) === undefined ? undefined : parsed(name, '', parse);
  const whole = (name: string, fallback: number, from: number, to?: number) =>
    parsed(name, String(fallback), (value) => parseWhole(value, name, from, to));
  const flag = (name: string, fallback: boolean) => parsed(name, String(fallback), parseFlag);
  return {
    host: text('HOST') ?? '127.0.0.1',
    port: whole('PORT', 4000, 0, 65_535),
    /** The port of /metrics; undefined: that of all other paths. */
    metricsPort: optional('METRICS_PORT', (value, name) => parseWhole(value, name, 0, 65_535)),
    /** Who may read /metrics on the port of all other paths, in addition to this machine: these networks, or everybody. */
    metricsNetworks: parsed('METRICS_NETWORKS', '', parseNetworks),
    metricsPublic: flag('METRICS_PUBLIC', false),
    /** The number of processes that serve; `auto`: one for each processor. */
    workers: parsed('WORKERS', '1', (value, name) =>
      value === 'auto' ? ('auto' as const) : parseWhole(value, name, 1, 256),
    ),
    /** The name of this node in its log lines. */
    nodeName: optional('NODE_NAME', parseNodeName),
    /** The URL at which clients reach the server; undefined: this machine only. */
    publicUrl: optional('PUBLIC_URL', parsePublicUrl),
    /** The origins whose pages may send requests, in addition to the server's own origin. */
    allowedOrigins: parsed('ALLOWED_ORIGINS', '', parseOrigins),
    /** The JSON file of a client's generator; only its documents are executed. Undefined: any document is executed. */
    trustedDocuments: text('TRUSTED_DOCUMENTS'),
    databaseUrl: parsed('DATABASE_URL', 'sqlite:data/postroom.db', parseDatabaseUrl),
    /** The server of the bus between nodes; undefined: the bus uses the database. */
    redisUrl: optional('REDIS_URL', parseRedisUrl),
    /** The folders and packages of extensions. */
    extensions: splitList(text('EXTENSIONS') ?? ''),
    /** An Ed25519 private key in PEM; undefined: a key is created once and stored next to the database. */
    sessionKey: optional('SESSION_KEY', parseSessionKey),
    sessionHours: 24,
    /** After SIGTERM the server still serves for this time, so that load balancers notice that it is not ready. */
    drainDelaySeconds: whole('DRAIN_DELAY_SECONDS', 0, 0, 600),
    /** WebSockets and streams are closed in batches over at most this time. */
    drainSeconds: whole('DRAIN_SECONDS', 5, 0, 600),
    /** Whether every operation except sign-up and sign-in needs credentials. */
    authRequired: flag('AUTH_REQUIRED', false),
    signUp: parsed('SIGN_UP', 'open', parseChoice(['open', 'invited', 'closed'])),
    signInAttempts: whole('SIGN_IN_ATTEMPTS', 10, 1),
    oauth: parsed('OAUTH_ISSUER', '', () => readOAuth(text)),
    introspection: flag('INTROSPECTION', true),
    graphiql: flag('GRAPHIQL', true),
    /** Whether the console for operators is served. The page contains no data: its operations need the role ADMIN. */
    console: flag('CONSOLE', true),
    operationTimeoutMs: whole('OPERATION_TIMEOUT_MS', 10_000, 1),
    stallSeconds: whole('STALL_SECONDS', 60, 1),
    eventRetentionHours: whole('EVENT_RETENTION_HOURS', 168, 1),
    eventRetentionCount: whole('EVENT_RETENTION_COUNT', 100_000, 1),
    /** The number of the operator's own proxies before the server, each of which adds to X-Forwarded-For. */
    trustProxy: whole('TRUST_PROXY', 0, 0, 10),
    rate: { limit: whole('RATE_LIMIT', 100, 0), windowSeconds: whole('RATE_WINDOW_SECONDS', 60, 1, 86_400) },
    /** Operations that take at least this time are logged; 0: none. */
    slowOperationMs: whole('SLOW_OPERATION_MS', 1_000, 0),
    logLevel: parsed('LOG_LEVEL', 'info', parseChoice(logLevels)),
    /** Undefined: no traces are recorded. */
    tracing: readTracing({ parsed, optional, flag }),
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

export function parseWhole(value: string, name: string, from: number, to = Number.MAX_SAFE_INTEGER): number {
  const range = to === Number.MAX_SAFE_INTEGER ? `of at least ${from}` : `from ${from} to ${to}`;
  if (!/^\d{1,15}$/.test(value) || Number(value) < from || Number(value) > to) {
    throw new BadSetting(name, value, `must be a whole number ${range}`);
  }
  return Number(value);
}

function parseFlag(value: string, name: string): boolean {
  if (value !== 'true' && value !== 'false') throw new BadSetting(name, value, 'must be true or false');
  return value === 'true';
}

const parsePublicUrl = parseText(
  /^https?:\/\/[^?#@]+$/,
  'must be an http or https URL of a host and an optional path',
  { isUrl: true },
);
const parseNodeName = parseText(
  /^[\w.:/-]{1,100}$/,
  'must be 1 to 100 of the characters A to Z, a to z, 0 to 9, _ . : / -',
);
const parseRedisUrl = parseText(
  /^rediss?:\/\/[^/?#]+[^@]*$/,
  'must be a redis:// or rediss:// URL; special characters of the password must be percent-encoded',
  { isUrl: true },
);
const parseHttpUrl = parseText(/^https?:/, 'must be an http or https URL', { isUrl: true });

function parseOrigins(list: string): string[] {
  const origins = splitList(list);
  const bad = origins.find((origin) => !/^https?:[^*]+$/.test(origin) || URL.parse(origin)?.origin !== origin);
  if (bad === undefined) return origins;
  const rule = 'must be an origin, such as https://app.example.org; commas separate several';
  throw new BadSetting('ALLOWED_ORIGINS', bad, rule);
}

function parseNetworks(list: string): BlockList {
  const networks = new BlockList();
  for (const network of splitList(list)) {
    const [, address = '', bits] = /^([^/]+)\/(\d+)$/.exec(network) ?? [];
    try {
      networks.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4');
    } catch {
      throw new BadSetting('METRICS_NETWORKS', network, 'must be networks such as 10.0.0.0/8, separated by commas');
    }
  }
  return networks;
}

function splitList(list: string): string[] {
  return list.split(',').flatMap((entry) => entry.trim() || []);
}

function parseSessionKey(pem: string): string {
  try {
    parsePrivateKeys(pem);
    return pem;
  } catch {
    const rule = 'must be an Ed25519 private key in PEM (PKCS #8), with its line breaks';
    throw new BadSetting('SESSION_KEY', '(hidden)', rule);
  }
}

/** Settings that each setting of OAuth requires; without them it would have no effect. */
const oauthNeeds = {
  OAUTH_ISSUER: ['OAUTH_AUDIENCE'],
  OAUTH_AUDIENCE: ['OAUTH_ISSUER'],
  OAUTH_INTROSPECTION_URL: ['OAUTH_ISSUER', 'OAUTH_CLIENT_ID', 'OAUTH_CLIENT_SECRET'],
  OAUTH_CLIENT_ID: ['OAUTH_INTROSPECTION_URL'],
  OAUTH_CLIENT_SECRET: ['OAUTH_INTROSPECTION_URL'],
};

function readOAuth(text: (name: string) => string | undefined) {
  const readUrl = (name: string) => text(name) && parseHttpUrl(text(name) ?? '', name);
  const issuer = readUrl('OAUTH_ISSUER');
  const introspectionUrl = readUrl('OAUTH_INTROSPECTION_URL');
  for (const [name, needed] of Object.entries(oauthNeeds)) {
    const value = text(name);
    const missing = value && needed.find((other) => text(other) === undefined);
    if (missing) throw new BadSetting(name, name.endsWith('SECRET') ? '(hidden)' : value, `needs ${missing}`);
  }
  if (issuer === undefined) return undefined;
  return {
    issuer,
    audience: text('OAUTH_AUDIENCE') ?? '',
    introspectionUrl,
    clientId: text('OAUTH_CLIENT_ID'),
    clientSecret: text('OAUTH_CLIENT_SECRET'),
  };
}
