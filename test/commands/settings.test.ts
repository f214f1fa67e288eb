import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BadSetting } from '../../src/config/bad-setting.ts';
import { findMistakenSettings, listSettings, readConfig } from '../../src/config/config.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { launchForTest, launchProcessForTest, run, scratchFolder, startInProcess } from '../support/server/postroom.ts';

const wholes = ['', ' ', '-1', '1.5', '1e3', '0x10', 'many', '9'.repeat(16), '１', 'NaN', '\n'];
const flags = ['yes', '1', 'TRUE', 'True', ' true'];
const positive = ['0'];

const endpoints = [
  'collector:4318',
  'grpc://collector:4317',
  'http://',
  'http://a b',
  'http://u@collector',
  'http://a/?b',
];

/** Values that each setting refuses. */
const refused: Record<string, string[]> = {
  PORT: [...wholes, '65536'],
  METRICS_PORT: [...wholes, '65536'],
  METRICS_NETWORKS: [
    '10.0.0.1',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::/129',
    'example.org/8',
    '/8',
    '10.0.0.0/-1',
  ],
  METRICS_PUBLIC: flags,
  WORKERS: ['0', '257', 'all', '-1'],
  NODE_NAME: ['node one', 'näme', 'a"b'],
  SLOW_OPERATION_MS: wholes,
  PUBLIC_URL: [
    'example.org',
    'ftp://example.org',
    'https://',
    'https://a b',
    'https://u@example.org',
    'https://example.org/?a',
  ],
  TRUST_PROXY: [...wholes, '11'],
  DATABASE_URL: [
    'data/postroom.db',
    'sqlite:',
    'sqlite',
    'file:postroom.db',
    'mysql://localhost',
    'postgres://localhost',
    'postgresql://localhost/',
    'postgres:database',
  ],
  REDIS_URL: ['localhost:6379', 'http://localhost', 'redis:', 'redis://', 'rediss:///tmp'],
  ALLOWED_ORIGINS: ['*', 'example.org', 'https://example.org/', 'https://a.org, b.org', 'null', 'HTTPS://EXAMPLE.ORG'],
  AUTH_REQUIRED: flags,
  SIGN_UP: ['close', 'CLOSED', 'true', 'open,closed'],
  SIGN_IN_ATTEMPTS: [...wholes, ...positive],
  OAUTH_ISSUER: ['issuer', 'ftp://issuer.example.org'],
  OAUTH_INTROSPECTION_URL: ['introspect', 'ftp://issuer.example.org'],
  INTROSPECTION: flags,
  GRAPHIQL: flags,
  CONSOLE: flags,
  RATE_LIMIT: wholes,
  RATE_WINDOW_SECONDS: [...wholes, ...positive],
  LIMIT_DEPTH: [...wholes, ...positive],
  LIMIT_COST: [...wholes, ...positive],
  LIMIT_TOKENS: [...wholes, ...positive],
  LIMIT_ALIASES: wholes,
  LIMIT_DIRECTIVES: wholes,
  LIMIT_COMMENTS: wholes,
  LIMIT_NESTING: [...wholes, ...positive, '501'],
  LIMIT_DOCUMENT_BYTES: [...wholes, ...positive],
  LIMIT_BODY_BYTES: [...wholes, ...positive],
  LIMIT_ANSWER_BYTES: [...wholes, ...positive, '999'],
  LIMIT_SUBSCRIPTIONS: [...wholes, ...positive],
  LIMIT_SOCKETS: [...wholes, ...positive],
  LIMIT_MESSAGES: [...wholes, ...positive],
  OPERATION_TIMEOUT_MS: [...wholes, ...positive],
  STALL_SECONDS: [...wholes, ...positive],
  DRAIN_DELAY_SECONDS: [...wholes, '601'],
  DRAIN_SECONDS: [...wholes, '601'],
  EVENT_RETENTION_HOURS: [...wholes, ...positive],
  EVENT_RETENTION_COUNT: [...wholes, ...positive],
  LOG_LEVEL: ['loud', 'INFO', '30'],
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoints,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoints,
  OTEL_SERVICE_NAME: ['a\nb', 'x'.repeat(201)],
  OTEL_RESOURCE_ATTRIBUTES: ['production', '=a', 'a=%', 'a=b,c'],
  OTEL_TRACES_SAMPLER: ['always', 'xray', 'ALWAYS_ON'],
  OTEL_TRACES_SAMPLER_ARG: ['1.5', '-0.1', 'half', '1e-3', '5%', ' '],
  OTEL_SDK_DISABLED: flags,
  TRACE_DOCUMENTS: flags,
  TRACE_CLIENTS: flags,
};

/** Paths of secrets: nothing else is read from a file. */
const unreadable = ['/nowhere/secret', tmpdir(), '/dev/null'];
const secrets = ['DATABASE_URL', 'SESSION_KEY', 'REDIS_URL', 'OAUTH_CLIENT_SECRET', 'OTEL_EXPORTER_OTLP_HEADERS'];
for (const name of secrets) refused[`${name}_FILE`] = unreadable;

/** Settings that can be any text until the server starts. */
const refusedAtStart: Record<string, string[]> = {
  HOST: ['no.such.host.invalid', '203.0.113.1'],
  TRUSTED_DOCUMENTS: ['/nowhere/documents.json'],
  EXTENSIONS: ['./nowhere', 'no-such-package'],
};

/** Settings whose values are in no message. */
const refusedSecrets: Record<string, string[]> = {
  SESSION_KEY: [
    'secret',
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  ],
  OTEL_EXPORTER_OTLP_HEADERS: ['Bearer secret', 'a b=secret', 'key=%secret', 'key=a%0asecret', 'key=a%01secret'],
};

const issuer = { OAUTH_ISSUER: 'https://issuer.example.org', OAUTH_AUDIENCE: 'postroom' };
const introspection = {
  OAUTH_INTROSPECTION_URL: 'https://issuer.example.org/introspect',
  OAUTH_CLIENT_ID: 'rooms',
  OAUTH_CLIENT_SECRET: 'hushed',
};
/** The other settings that each setting of an issuer requires. */
const needed: Record<string, string[]> = {
  OAUTH_ISSUER: ['OAUTH_AUDIENCE'],
  OAUTH_AUDIENCE: ['OAUTH_ISSUER'],
  OAUTH_INTROSPECTION_URL: ['OAUTH_ISSUER', 'OAUTH_CLIENT_ID', 'OAUTH_CLIENT_SECRET'],
  OAUTH_CLIENT_ID: ['OAUTH_INTROSPECTION_URL'],
  OAUTH_CLIENT_SECRET: ['OAUTH_INTROSPECTION_URL'],
};

describe('a setting', () => {
  it('of any name is tested here with values that it refuses', () => {
    const tried = new Set([refused, refusedAtStart, refusedSecrets, needed].flatMap(Object.keys));
    expect([...tried].sort()).toEqual(listSettings().sort());
  });

  it.each(
    Object.entries(refused),
  )('%s with an invalid value is reported with its name, the value and what is allowed', (name, values) => {
    for (const value of values.filter((text) => text !== '')) {
      const read = () => readConfig({ [name]: value });
      expect(read, JSON.stringify(value)).toThrow(BadSetting);
      const [, subject, shown = '""'] = /^(\w+) must be .+ \(got (".*")\)\.$/.exec(messageOf(read)) ?? [];
      expect(subject).toBe(name);
      // The message for a list shows the bad entry only.
      expect(JSON.parse(shown)).not.toBe('');
      expect(value).toContain(JSON.parse(shown));
    }
  });

  it.each(
    Object.entries(refusedSecrets),
  )('%s with an invalid value is reported with its name and what is allowed, without the value', (name, values) => {
    for (const value of values) {
      const read = () => readConfig({ [name]: value });
      expect(read, JSON.stringify(value)).toThrow(BadSetting);
      expect(messageOf(read)).toMatch(new RegExp(`^${name} must be [^\n]+ \\(got "\\(hidden\\)"\\)\\.$`));
      for (const secret of [value.slice(0, 20), 'secret']) expect(messageOf(read)).not.toContain(secret);
    }
  });

  it.each(
    Object.entries(needed).flatMap(([name, others]) => others.map((other) => [name, other] as const)),
  )('%s is refused without %s, and the message contains no secret', (name, other) => {
    const whole: Record<string, string> = { ...issuer, ...introspection };
    expect(readConfig(whole).oauth).toEqual({
      issuer: issuer.OAUTH_ISSUER,
      audience: issuer.OAUTH_AUDIENCE,
      introspectionUrl: introspection.OAUTH_INTROSPECTION_URL,
      clientId: introspection.OAUTH_CLIENT_ID,
      clientSecret: introspection.OAUTH_CLIENT_SECRET,
    });
    // Settings that need the same other setting are also absent, so that the first error is about `name`.
    const rest = Object.entries(whole).filter(
      ([one]) => one === name || !(one === other || needed[one]?.includes(other)),
    );
    const settings = Object.fromEntries(rest);
    const message = messageOf(() => readConfig(settings));
    expect(message).toMatch(new RegExp(`^${name} needs ${other} \\(got ".*"\\)\\.$`));
    expect(message).not.toContain(introspection.OAUTH_CLIENT_SECRET);
  });

  it('for an issuer can be used without the settings of introspection', () => {
    expect(readConfig(issuer).oauth).toMatchObject({ issuer: issuer.OAUTH_ISSUER, introspectionUrl: undefined });
  });

  it('that is empty counts as absent', () => {
    const names = listSettings();
    expect(readConfig(Object.fromEntries(names.map((name) => [name, ''])))).toEqual(readConfig({}));
  });

  it('with an unknown name changes nothing', () => {
    expect(readConfig({ PORTS: 'x', limit_depth: '1' })).toEqual(readConfig({}));
  });
});

describe('a secret in a file', () => {
  function inFile(content: string): string {
    const path = join(scratchFolder(), 'secret');
    writeFileSync(path, content);
    return path;
  }

  const values: Record<string, string> = {
    DATABASE_URL: 'postgres://ada:hushed@db/postroom',
    REDIS_URL: 'redis://:hushed@cache',
    SESSION_KEY: newSessionKey().trimEnd(),
    OAUTH_CLIENT_SECRET: ' hushed\n',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=hushed',
  };
  const others = {
    ...issuer,
    ...introspection,
    OAUTH_CLIENT_SECRET: '',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
  };

  it('is its content without the final line break', () => {
    expect(Object.keys(values).sort()).toEqual(secrets.toSorted());
    const expected = readConfig({ ...others, ...values });
    for (const end of ['\n', '\r\n']) {
      const files = Object.entries(values).map(([name, value]) => [`${name}_FILE`, inFile(value + end)]);
      expect(readConfig({ ...others, ...Object.fromEntries(files) })).toEqual(expected);
    }
    const REDIS_URL_FILE = inFile(values['REDIS_URL'] ?? '');
    expect(readConfig({ ...others, ...values, REDIS_URL: '', REDIS_URL_FILE })).toEqual(expected);
  });

  it.each(secrets)('%s_FILE is refused together with the setting itself', (name) => {
    const path = inFile('from the file');
    const message = messageOf(() => readConfig({ ...others, ...values, [`${name}_FILE`]: path }));
    expect(message).toBe(`${name}_FILE must not be set together with ${name} (got ${JSON.stringify(path)}).`);
  });

  it.each([
    'DATABASE_URL',
    'REDIS_URL',
  ])('is not in the message if the content of %s_FILE is invalid; the path is', (name) => {
    const path = inFile('hushed\n');
    const message = messageOf(() => readConfig({ [`${name}_FILE`]: path }));
    expect(message).toMatch(new RegExp(`^${name} must be .* \\(got "the content of ${path}"\\)\\.$`));
    expect(message).not.toContain('hushed');
  });

  it('can be the session key of a server', async () => {
    const SESSION_KEY = newSessionKey();
    const settings = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
    const first = await launchForTest({ ...settings, SESSION_KEY });
    const ada = await first.signUp('Ada');
    await first.stop();
    const second = await launchForTest({ ...settings, SESSION_KEY: '', SESSION_KEY_FILE: inFile(SESSION_KEY) });
    expect(await second.ask('{ viewer { id } }', {}, ada.token)).toEqual({ viewer: { id: ada.id } });
  });
});

describe('an environment variable that is not a setting', () => {
  it.each([
    ['LIMIT_DEPHT', 'LIMIT_DEPTH'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['log_level', 'LOG_LEVEL'],
    ['PORTS', 'PORT'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['PORT_FILE', 'PORT'],
    ['EVENT_RETENTION_DAYS', 'EVENT_RETENTION_HOURS'],
    ['LIMIT_MESSAGES_PER_SECOND', 'LIMIT_MESSAGES'],
  ])('is named with the setting that it resembles: %s', (variable, setting) => {
    expect(findMistakenSettings({ [variable]: '1', [setting]: '' })).toEqual([{ variable, setting }]);
  });

  it('is not named if it resembles none, and a setting is not named', () => {
    const common = 'HOME PATH USER LANG SHELL TERM PWD HOSTNAME LOGNAME TZ EDITOR TMPDIR NODE_ENV NODE_OPTIONS PGPORT';
    const kubernetes = 'POSTROOM_PORT POSTROOM_SERVICE_HOST REDIS_PORT REDIS_SERVICE_HOST KUBERNETES_PORT';
    const variables = [...common.split(' '), ...kubernetes.split(' '), ...listSettings()];
    expect(findMistakenSettings(Object.fromEntries(variables.map((name) => [name, '1'])))).toEqual([]);
  });

  it('is named in the log at the start, without its value', async () => {
    const postroom = await launchProcessForTest({ LIMIT_DEPHT: 'hushed' });
    expect(JSON.stringify(postroom.log)).not.toContain('hushed');
    expect(postroom.log).toMatchObject([
      {
        level: 40,
        time: expect.any(String),
        variable: 'LIMIT_DEPHT',
        setting: 'LIMIT_DEPTH',
        msg: 'an environment variable that is not a setting resembles one',
      },
    ]);
  });
});

function messageOf(read: () => unknown): string {
  return messagesOf(read)[0] ?? '';
}

function messagesOf(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
    return errors.map((one) => (one instanceof Error ? one.message : ''));
  }
  return [];
}

describe('an invalid setting stops the start with one line, and no file is created', () => {
  const cases: [string, string][] = [
    ['LOG_LEVEL', 'loud'],
    ...Object.entries(refusedAtStart).flatMap(([name, values]) =>
      values.map((value): [string, string] => [name, value]),
    ),
  ];

  it.each(cases)('%s=%j', async (name, value) => {
    const folder = scratchFolder();
    const settings = { DATABASE_URL: `sqlite:${join(folder, 'data', 'postroom.db')}`, PORT: '0', [name]: value };
    const { status, stdout, stderr } = await run(['serve'], settings);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^postroom: [^\n]+\n$/);
    expect(stderr).toContain(`postroom: ${name} must be `);
    expect(readdirSync(folder)).toEqual([]);
  });
});

it.each([
  'postgres',
  'postgresql',
])('%s:// needs SESSION_KEY, and the message says how to create one and hides the password', async (scheme) => {
  const start = startInProcess({ DATABASE_URL: `${scheme}://ada:hushed@127.0.0.1:1/postroom` });
  await expect(start).rejects.toMatchObject({
    name: 'BadSetting',
    message: `DATABASE_URL needs SESSION_KEY, the same for all nodes; \`openssl genpkey -algorithm ed25519\` creates one (got "${scheme}://ada:…@127.0.0.1:1/postroom").`,
  });
});

it.each([
  'redis://:hushed/hushed@127.0.0.1',
  'redis://ada:hushed@hushed/hushed@127.0.0.1',
  'redis:///?password=hushed&db=1',
])('a password is hidden in the message about %s, also if it is not percent-encoded', (url) => {
  for (const name of ['REDIS_URL', 'PORT']) {
    const message = messageOf(() => readConfig({ [name]: url }));
    expect(message).toContain('…');
    expect(message).not.toContain('hushed');
  }
});

it('of several invalid settings each is reported in a line of its own, also secrets', async () => {
  const settings = { PORT: 'x', PUBLIC_URL: 'x', ALLOWED_ORIGINS: '*', DATABASE_URL: 'x', OAUTH_AUDIENCE: 'x' };
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: 'x', OTEL_TRACES_SAMPLER: 'x', TRACE_CLIENTS: 'x' };
  const secret = { SESSION_KEY: 'secret', OTEL_EXPORTER_OTLP_HEADERS: 'Bearer secret' };
  const limits = { LIMIT_DEPTH: 'x', LIMIT_NESTING: 'x' };
  const all = { ...settings, ...traces, ...secret, ...limits, GRAPHIQL: 'x', LOG_LEVEL: 'x' };
  const { status, stdout, stderr } = await run(['serve'], all);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  const lines = stderr.trimEnd().split('\n');
  const shown = /^postroom: (\w+) (must be|needs) .+ \(got "([x*]|\(hidden\))"\)\.$/;
  expect(lines.map((line) => shown.exec(line)?.[1]).sort()).toEqual(Object.keys(all).sort());
  expect(stderr).not.toContain('secret');
});

it('an invalid DATABASE_URL and SESSION_KEY are reported together with other invalid settings', () => {
  for (const DATABASE_URL of ['mysql://x', 'postgres://x', 'postgres://ada:a/b@x/postroom']) {
    const messages = messagesOf(() => readConfig({ PORT: 'x', DATABASE_URL, SESSION_KEY: 'x' }));
    expect(messages.map((message) => /^(\w+) must be /.exec(message)?.[1])).toEqual([
      'PORT',
      'DATABASE_URL',
      'SESSION_KEY',
    ]);
  }
});

it('PORT 0 takes any free port, and HOST takes a name or an address', async () => {
  const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
  for (const HOST of ['127.0.0.1', 'localhost', ...(hasIPv6 ? ['::1'] : [])]) {
    const postroom = await launchForTest({ HOST });
    expect(await postroom.ask('{ viewer { id } }')).toEqual({ viewer: null });
  }
});

it('INTROSPECTION=false refuses introspection, and errors suggest no names', async () => {
  const postroom = await launchForTest({ INTROSPECTION: 'false' });
  for (const query of ['{ __schema { types { name } } }', '{ __type(name: "User") { name } }']) {
    expect(await postroom.send(query)).toMatchObject({ status: 422, code: 'GRAPHQL_VALIDATION_FAILED' });
  }
  expect(await postroom.send('{ viewer { __typename } }')).toMatchObject({ status: 200 });
  const hinted = await postroom.send('{ viewers { id } }');
  expect(JSON.stringify(hinted.errors)).not.toMatch(/did you mean|"viewer"/i);
});

it('AUTH_REQUIRED=true: errors suggest names only to clients with credentials', async () => {
  const postroom = await launchForTest({ AUTH_REQUIRED: 'true' });
  const { token } = await postroom.signUp('Ada');
  const mistakes = ['{ viewers { id } }', 'mutation { signIn(input: { emails: "x" }) { accessToken } }'];
  for (const query of mistakes) {
    const [hidden, shown] = [await postroom.send(query), await postroom.send(query, {}, token)];
    expect([hidden.status, shown.status]).toEqual([422, 422]);
    expect(JSON.stringify(hidden.errors)).not.toMatch(/did you mean/i);
    expect(JSON.stringify(shown.errors)).toMatch(/did you mean/i);
  }
  const signIn = 'mutation ($input: SignInInput!) { signIn(input: $input) { accessToken } }';
  const coerced = await postroom.send(signIn, { input: { emails: 'x' } });
  expect(coerced.code).toBe('VARIABLES_INVALID');
  expect(JSON.stringify(coerced.errors)).not.toMatch(/did you mean/i);
});
