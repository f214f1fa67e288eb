// Runs on PostgreSQL.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresCluster, postgresPrograms } from '../support/database/postgres-cluster.ts';
import { query } from '../support/database/postgres-query.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { launchForTest, run } from '../support/server/postroom.ts';

/* Encrypted connections to PostgreSQL, and passwords. */

const missing =
  postgresPrograms === undefined ? 'initdb' : spawnSync('openssl', ['version']).status === 0 ? undefined : 'openssl';
const title =
  missing === undefined ? 'PostgreSQL with TLS' : `PostgreSQL with TLS (skipped, because ${missing} is not installed)`;
const password = 'p@ss/w:rd?%#';
let cluster: PostgresCluster;
let folder: string;

function openssl(...args: string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function createAuthority(name: string): void {
  openssl('req', '-x509', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.pem`, '-subj', `/CN=${name}`);
}

function createCertificate(authority: string, host: string, name: string): void {
  const signing = ['-CA', `${authority}.pem`, '-CAkey', `${authority}.key`, '-addext', `subjectAltName=${host}`];
  openssl(
    'req',
    '-x509',
    ...newKey,
    ...signing,
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.pem`,
    '-subj',
    '/CN=server',
  );
}

/** Makes the server use this certificate for new connections. */
async function present(name: string): Promise<void> {
  const { uid, gid } = statSync(cluster.folder);
  for (const [from, to] of [
    ['pem', 'crt'],
    ['key', 'key'],
  ] as const) {
    const file = join(cluster.folder, `server.${to}`);
    writeFileSync(file, readFileSync(join(folder, `${name}.${from}`)));
    chownSync(file, uid, gid);
    chmodSync(file, 0o600);
  }
  await query(cluster.url('postgres'), 'alter system set ssl = on');
  await query(cluster.url('postgres'), 'select pg_reload_conf()');
  await expect.poll(async () => (await query(cluster.url('postgres'), 'show ssl'))[0]).toEqual({ ssl: 'on' });
}

function urlOf(parameters: string, secret = password): string {
  const url = new URL(cluster.url('postroom', 'node'));
  url.password = encodeURIComponent(secret);
  return `${url.href}${parameters}`;
}

/** The standard error of a command that cannot use the database. */
async function refusalOf(url: string): Promise<string> {
  const { status, stderr } = await run(['key', 'create', '--name', 'k', '--scopes', 'read'], { DATABASE_URL: url });
  expect(status).toBe(1);
  expect(stderr.trimEnd()).not.toContain('\n');
  for (const secret of [password, encodeURIComponent(password), 'hunter2']) expect(stderr).not.toContain(secret);
  return stderr.trimEnd();
}

const verified = () => `?sslmode=verify-full&sslrootcert=${join(folder, 'authority.pem')}`;

describe.skipIf(missing !== undefined)(title, () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'postroom-tls-'));
    cluster = await PostgresCluster.start({ password_encryption: 'scram-sha-256' });
    createAuthority('authority');
    createAuthority('other');
    createCertificate('authority', 'IP:127.0.0.1', 'good');
    createCertificate('other', 'IP:127.0.0.1', 'stranger');
    createCertificate('authority', 'DNS:elsewhere.example', 'elsewhere');
    const admin = cluster.url('postgres');
    await query(admin, `create role node login password '${password}'`);
    await query(admin, 'create database postroom owner node');
    const file = join(cluster.folder, 'pg_hba.conf');
    const rules = 'hostssl all node 127.0.0.1/32 scram-sha-256\nhost all node 127.0.0.1/32 reject\n';
    writeFileSync(file, rules + readFileSync(file, 'utf8'));
  });

  it('a node encrypts all its connections, and its password is in no line of the log', async () => {
    await present('good');
    const settings = { DATABASE_URL: urlOf(verified()), SESSION_KEY: newSessionKey(), LOG_LEVEL: 'trace' };
    const postroom = await launchForTest(settings);
    const ada = await postroom.signUp('Ada');
    await postroom.createRoom(ada, 'hall');
    const connections = `select application_name as name, bool_and(ssl) as ssl from pg_stat_activity
      join pg_stat_ssl using (pid) where usename = 'node' group by 1 order by 1`;
    expect(await query(cluster.url('postgres'), connections)).toEqual([
      { name: 'postroom', ssl: true },
      { name: 'postroom bus', ssl: true },
    ]);
    for (const secret of [password, encodeURIComponent(password)])
      expect(JSON.stringify(postroom.log)).not.toContain(secret);
  });

  it.each(['require', 'prefer', 'verify-ca', 'verify-full'])('sslmode=%s verifies the certificate', async (mode) => {
    await present('good');
    expect(await refusalOf(urlOf(`?sslmode=${mode}`))).toMatch(/: unable to verify the first certificate/);
    const url = urlOf(verified().replace('verify-full', mode));
    const { status, stderr } = await run(['key', 'create', '--name', 'k', '--scopes', 'read'], { DATABASE_URL: url });
    expect({ status, lines: stderr.trim().split('\n').length }).toEqual({ status: 0, lines: 1 });
  });

  it.each([
    ['of another authority', 'stranger', /: unable to verify the first certificate/],
    ['for another host', 'elsewhere', /: Hostname\/IP does not match certificate's altnames/],
  ])('a certificate %s is refused in one line', async (_, name, reason) => {
    await present(name);
    expect(await refusalOf(urlOf(verified()))).toMatch(reason);
  });

  it('a server without TLS, or with rules that require it, refuses in one line', async () => {
    await present('good');
    expect(await refusalOf(urlOf(''))).toMatch(/pg_hba.conf rejects connection .* no encryption \(28000\)$/);
    await query(cluster.url('postgres'), 'alter system set ssl = off');
    await query(cluster.url('postgres'), 'select pg_reload_conf()');
    await expect.poll(() => refusalOf(urlOf(verified()))).toMatch(/: The server does not support SSL connections$/);
  });

  it('a wrong, missing or unencoded password is refused in one line without it', async () => {
    await present('good');
    expect(await refusalOf(urlOf(verified(), 'hunter2'))).toMatch(
      /password authentication failed for user "node" \(28P01\)$/,
    );
    expect(await refusalOf(`${cluster.url('postroom', 'node')}${verified()}`)).toMatch(
      /: .*password must be a string$/,
    );
    for (const secret of ['hun@ter/2', 'hun@ter?2', 'hun/ter2', '12/ter2', 'hun#ter2', 'hun@ter#2']) {
      const refusal = await refusalOf(`postgres://node:${secret}@127.0.0.1:${cluster.port}/postroom`);
      expect(refusal).toMatch(/^postroom: DATABASE_URL must be .*percent-encoded \(got "postgres:\/\/node:…@127/);
    }
  });

  it('a certificate that is replaced by one that is not trusted is a 503 while it lasts, and the log has the reason', async () => {
    await present('good');
    const postroom = await launchForTest({ DATABASE_URL: urlOf(verified()), SESSION_KEY: newSessionKey() });
    const ada = await postroom.signUp('Ada');
    await present('stranger');
    await query(
      cluster.url('postgres'),
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'node'`,
    );
    const create = 'mutation { createRoom(input: { name: "later" }) { room { id } } }';
    await expect
      .poll(() => postroom.send('{ users { data { id } } }'))
      .toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(await postroom.send(create, {}, ada.token)).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(postroom.log.map(({ reason }) => reason)).toContainEqual(expect.stringMatching(/^unable to verify/));
    await present('good');
    await expect.poll(() => postroom.send('{ users { data { id } } }')).toMatchObject({ status: 200 });
    await expect.poll(async () => (await fetch(`${postroom.url}/ready`)).status).toBe(200);
    expect(await postroom.send(create, {}, ada.token)).toMatchObject({ status: 200 });
  });

  afterAll(async () => {
    await cluster?.remove();
    rmSync(folder, { recursive: true, force: true });
  });
});
