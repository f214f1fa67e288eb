import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { sendAs } from '../support/identity/credentials.ts';
import { audience, introspector, openIssuer } from '../support/identity/issuer.ts';
import { launch, mainProgram, type PostroomProcess, run, scratchFolder } from '../support/server/postroom.ts';

/** The command lines of a process and its children, as `ps` shows them. */
function commandLinesOf(pid: number): string {
  const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean),
  );
  return [line, ...children.map((child) => commandLinesOf(Number(child)))].join('\n');
}

/** Returns a function that returns the output of the process so far. */
function listenTo({ process }: PostroomProcess): () => string {
  let text = '';
  for (const stream of [process.stdout, process.stderr])
    stream.on('data', (chunk) => {
      text += chunk;
    });
  return () => text;
}

const changePassword = (from: string, to: string) =>
  `mutation { changePassword(input: { currentPassword: "${from}", newPassword: "${to}" }) { accessToken } }`;

it('no secret appears in the log, in an error, in the arguments of the process, or in the data folder except the session key', async () => {
  const folder = scratchFolder();
  const issuer = await openIssuer({ format: 'opaque' });
  onTestFinished(() => issuer.close());
  const settings = {
    DATABASE_URL: `sqlite:${join(folder, 'postroom.db')}`,
    OAUTH_ISSUER: issuer.issuer,
    OAUTH_AUDIENCE: audience,
    OAUTH_INTROSPECTION_URL: `${issuer.issuer}/token/introspection`,
    OAUTH_CLIENT_ID: introspector.id,
    OAUTH_CLIENT_SECRET: introspector.secret,
    LOG_LEVEL: 'debug',
  };
  const postroom = await launch(settings);
  onTestFinished(async () => void (await postroom.stop()));
  const said = listenTo(postroom);
  const errors: unknown[] = [];
  const send = async (query: string, authorization?: string) => {
    const reply = await sendAs(postroom, authorization, query);
    if (reply.errors) errors.push(reply.errors, reply.challenge);
    return reply;
  };

  const [password, wrong, next] = ['a horse nobody knows', 'a horse that is wrong', 'the next horse nobody knows'];
  const signUp = (name: string, word: string) =>
    `mutation { signUp(input: { name: "${name}", email: "ada@x.org", password: "${word}" }) { accessToken } }`;
  const token: string = (await send(signUp('Ada', password))).data.signUp.accessToken;
  const as = `Bearer ${token}`;
  const made = await send('mutation { createApiKey(input: { name: "app", scopes: [READ] }) { key } }', as);
  const key: string = made.data.createApiKey.key;
  const typo = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
  const opaque = await issuer.signIn('bob');
  for (const good of [`ApiKey ${key}`, `Bearer ${opaque}`])
    expect((await send('{ viewer { id } }', good)).status).toBe(200);
  for (const bad of [`ApiKey ${typo}`, `Bearer ${token}x`, `Bearer ${opaque}x`])
    expect((await send('{ viewer { id } }', bad)).status).toBe(401);
  await send(`mutation { signIn(input: { email: "ada@x.org", password: "${wrong}" }) { accessToken } }`);
  await send(signUp('', wrong));
  await send(changePassword(wrong, next), as);
  // Refused with messages that quote the value.
  const mistaken = [`["${wrong}"]`, `{ is: "${wrong}" }`, `"${wrong}" "${wrong}"`, wrong.replaceAll(' ', '_')];
  for (const value of mistaken)
    await sendAs(postroom, as, `mutation { signIn(input: { email: "a@x.org", password: ${value} }) { accessToken } }`);
  const signIn = 'mutation ($input: SignInInput!) { signIn(input: $input) { accessToken } }';
  for (const input of [wrong, [wrong], { password: wrong }, { email: 'a@x.org', password: [wrong] }])
    await sendAs(postroom, as, signIn, { input });
  const changed: string = (await send(changePassword(password, next), as)).data.changePassword.accessToken;
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `ApiKey ${key}` } });
  socket.send({ type: 'ping', payload: { authorization: `ApiKey ${typo}` } });
  await socket.closed;
  issuer.state.isDown = true;
  const unknown = 'a-token-that-only-the-issuer-knows';
  expect((await send('{ viewer { id } }', `Bearer ${unknown}`)).status).toBe(502);
  const refused = await ProtocolSocket.open(postroom.webSocketUrl, { init: false });
  refused.send({ type: 'connection_init', payload: { authorization: `Bearer ${unknown}` } });
  expect((await refused.closed).code).toBe(1013);
  const command = await run(['key', 'create', '--name', 'operator', '--scopes', 'read'], settings);
  expect(command.status).toBe(0);
  const given = 'a horse that the operator knows';
  const setting = await run(['set-password', 'ada@x.org'], settings, given);
  expect(setting.status).toBe(0);
  const first = 'a horse for a new account';
  const creating = await run(['create-user', 'grace@x.org', '--name', 'Grace'], settings, first);
  expect(creating.status).toBe(0);
  const linking = await run(['sign-in-link', 'ada@x.org'], settings);
  const link = linking.stdout.trim();
  const useLink = 'mutation ($input: SignInWithLinkInput!) { signInWithLink(input: $input) { accessToken } }';
  const use = () => sendAs(postroom, undefined, useLink, { input: { token: link } });
  const linked: string = (await use()).data.signInWithLink.accessToken;
  errors.push((await use()).errors);
  await send(`mutation { signInWithLink(input: { token: "${link}" }) { accessToken } }`);
  expect((await send('{ viewer { id } }', `Bearer ${link}`)).status).toBe(401);
  const processes = commandLinesOf(postroom.process.pid ?? 0);
  // The first read is before the server stops, because the write-ahead log then contains the latest writes.
  const readFiles = () =>
    readdirSync(folder)
      .filter((file) => file !== 'session-key.pem')
      .map((file) => readFileSync(join(folder, file), 'latin1'))
      .join();
  const [files, ended] = [readFiles(), once(postroom.process.stderr, 'close')];
  expect(await postroom.stop()).toBe(0);
  await ended;

  const pem = readFileSync(join(folder, 'session-key.pem'), 'utf8');
  const sessionKey = pem.split('\n')[1] ?? '';
  const { secret } = introspector;
  const basic = Buffer.from(`${introspector.id}:${secret}`).toString('base64');
  const words = [
    password,
    wrong,
    wrong.replaceAll(' ', '_'),
    next,
    given,
    first,
    link,
    linked,
    token,
    changed,
    key,
    typo,
    opaque,
    unknown,
    command.stdout.trim(),
  ];
  const secrets = [...words, sessionKey, secret, basic].flatMap((text) => [text, text.split('.').at(-1) ?? text]);
  expect(secrets.every((text) => text.length > 15)).toBe(true);
  const places = {
    log: said() + JSON.stringify(postroom.log),
    errors: JSON.stringify(errors),
    files,
    filesAtTheEnd: readFiles(),
    processes,
    command: command.stderr + setting.stderr + setting.stdout + creating.stderr + creating.stdout + linking.stderr,
  };
  // Each place must contain an expected text; otherwise the search for secrets could pass because a place is empty.
  for (const [place, text] of Object.entries({
    log: 'credentialsRefused',
    errors: 'UNAUTHENTICATED',
    files: 'ada@x.org',
    filesAtTheEnd: 'ada@x.org',
    processes: mainProgram.join(' '),
    command: 'signInLinkCreated',
  }))
    expect(places[place as keyof typeof places]).toContain(text);
  for (const [place, text] of Object.entries(places)) {
    expect({ place, found: secrets.filter((one) => text.includes(one)) }).toEqual({ place, found: [] });
  }
  expect(statSync(join(folder, 'session-key.pem')).mode & 0o077).toBe(0);
});

it('an invalid setting is reported without the password that it contains', async () => {
  const { status, stderr } = await run(['serve'], {
    PORT: '0',
    DATABASE_URL: 'mysql://postroom:hunter2hunter2@db/postroom',
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^postroom: DATABASE_URL must be .* \(got "mysql:\/\/postroom:…@db\/postroom"\)\.\n$/);
});
