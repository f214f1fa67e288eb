import { describe, expect, it } from 'vitest';
import { post } from '../support/clients/http.ts';
import { shareServer } from '../support/server/shared-server.ts';

/* The limits of password attempts and sign-ups; each address is a separate client. */

const limit = 4;
const server = shareServer({ SIGN_IN_ATTEMPTS: String(limit), TRUST_PROXY: '1' });

let addresses = 0;
const newAddress = () => {
  addresses += 1;
  return `198.51.100.${addresses}`;
};

async function send(query: string, address: string, token?: string) {
  const headers = { 'x-forwarded-for': address, ...(token && { authorization: `Bearer ${token}` }) };
  const { status, code, errors } = await post(server.postroom, query, { headers });
  return { status, code, failed: errors?.[0]?.path?.[0] };
}

const signInField = (email: string, password: string) =>
  `signIn(input: { email: "${email}", password: "${password}" }) { expiresAt }`;
const signIn = (email: string, password: string, address: string) =>
  send(`mutation { ${signInField(email, password)} }`, address);
const signUpField = (name: string) =>
  `signUp(input: { name: "${name}", email: "${name}@example.org", password: "correct horse" }) { expiresAt }`;
const aliased = (fields: readonly string[]) => `mutation { ${fields.map((field, n) => `a${n}: ${field}`).join(' ')} }`;

async function countUsers(name: string): Promise<number> {
  const query = 'query ($name: String) { users(filter: { name: $name }) { pagination { total } } }';
  return (await server.postroom.ask(query, { name })).users.pagination.total;
}

async function newAccount(name: string) {
  await send(`mutation { ${signUpField(name)} }`, newAddress());
  return { email: `${name}@example.org`, password: 'correct horse' };
}

describe('a stranger who tries wrong passwords', () => {
  it('is stopped at their own address, and does not lock out the owner at another address', async () => {
    const { email, password } = await newAccount('owner');
    const [stranger, home] = [newAddress(), newAddress()];
    const statuses = [];
    for (let n = 0; n <= limit; n += 1) statuses.push((await signIn(email, 'wrong horse', stranger)).status);
    expect(statuses).toEqual([...Array(limit).fill(401), 429]);
    expect((await signIn(email, password, home)).status).toBe(200);
    // Attempts that are refused because of the address do not count as attempts on the account.
    for (let n = 0; n < 10 * limit; n += 1) await signIn(email, 'wrong horse', stranger);
    expect((await signIn(email, password, home)).status).toBe(200);
    expect((await signIn(email, password, stranger)).status).toBe(429);
  });

  it('has ten times as many attempts on an account from many addresses, and no more', async () => {
    const { email, password } = await newAccount('hunted');
    for (let n = 0; n < 10; n += 1) {
      const wrong = Array.from({ length: limit }, () => signIn(email, 'wrong horse', `203.0.113.${n}`));
      for (const { status } of await Promise.all(wrong)) expect(status).toBe(401);
    }
    const late = await signIn(email, password, newAddress());
    expect(late).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  });
});

it('right passwords use up no attempts of an account: its owner can sign in from any number of addresses', async () => {
  const { email, password } = await newAccount('traveller');
  for (let n = 0; n <= 10 * limit; n += 20) {
    const right = Array.from({ length: 20 }, () => signIn(email, password, newAddress()));
    for (const { status } of await Promise.all(right)) expect(status).toBe(200);
  }
});

describe('each field of an operation counts', () => {
  it('signUp: an address creates no more accounts than it has attempts', async () => {
    const address = newAddress();
    const many = aliased(Array.from({ length: 30 }, (_, n) => signUpField(`crowd${n}`)));
    expect(await send(many, address)).toEqual({ status: 294, code: 'RATE_LIMITED', failed: `a${limit}` });
    expect(await countUsers('crowd')).toBe(limit);
    expect((await send(`mutation { ${signUpField('latecomer')} }`, address)).status).toBe(429);
    expect((await signIn('crowd0@example.org', 'correct horse', address)).status).toBe(429);
    expect((await signIn('crowd0@example.org', 'correct horse', newAddress())).status).toBe(200);
  });

  it('signIn and signUp together', async () => {
    const { email, password } = await newAccount('both');
    const fields = Array.from({ length: 20 }, (_, n) =>
      n % 2 ? signUpField(`pair${n}`) : signInField(email, password),
    );
    expect(await send(aliased(fields), newAddress())).toEqual({
      status: 294,
      code: 'RATE_LIMITED',
      failed: `a${limit}`,
    });
    expect(await countUsers('pair')).toBe(limit / 2);
  });

  it('signUp: the refusal says that the users of an address share the limit', async () => {
    const fields = Array.from({ length: limit + 1 }, (_, n) => signUpField(`office${n}`));
    const headers = { 'x-forwarded-for': newAddress() };
    const { errors } = await post(server.postroom, aliased(fields), { headers });
    expect(errors?.[0]?.message).toContain('All users of a network address share a limit.');
  });

  it.each([
    'updateUser',
    'replaceUser',
  ])('%s: an address tries no more e-mail addresses than it has attempts', async (mutation) => {
    const { id, token, email } = await server.postroom.signUp('Eve');
    const change = (to: string) => `${mutation}(input: { id: "${id}", name: "Eve", email: "${to}" }) { user { id } }`;
    const address = newAddress();
    const guesses = Array.from({ length: 30 }, (_, n) => change(`${mutation}${n}@example.org`));
    expect(await send(aliased(guesses), address, token)).toEqual({
      status: 294,
      code: 'RATE_LIMITED',
      failed: `a${limit}`,
    });
    // The last address that was tried is now that of the account.
    const { viewer } = await server.postroom.ask('{ viewer { email } }', {}, token);
    expect(viewer.email).toBe(`${mutation}${limit - 1}@example.org`);
    expect((await send(`mutation { ${change(email)} }`, address, token)).status).toBe(429);
    expect((await send(`mutation { ${signUpField(`after${mutation}`)} }`, address)).status).toBe(429);
    for (const same of [viewer.email, viewer.email.toUpperCase()])
      expect((await send(`mutation { ${change(same)} }`, address, token)).status).toBe(200);
  });

  it('a change of the account without another e-mail address, or with an invalid one, does not', async () => {
    const { id, token, email } = await server.postroom.signUp('Bob');
    const address = newAddress();
    const change = (input: string) =>
      send(`mutation { updateUser(input: { id: "${id}", ${input} }) { user { id } } }`, address, token);
    for (let n = 0; n <= limit; n += 1) {
      expect((await change(`name: "Bob ${n}"`)).status).toBe(200);
      expect((await change(`email: "${email}"`)).status).toBe(200);
      expect((await change('email: "nowhere"')).status).toBe(422);
    }
    expect((await send(`mutation { ${signUpField('bobby')} }`, address)).status).toBe(200);
  });

  it('a sign-up whose input is invalid does not: no password was tried', async () => {
    const address = newAddress();
    const short = 'signUp(input: { name: "", email: "", password: "" }) { expiresAt }';
    for (let n = 0; n <= limit; n += 1) expect((await send(`mutation { ${short} }`, address)).status).toBe(422);
    expect((await send(`mutation { ${signUpField('careful')} }`, address)).status).toBe(200);
  });
});
