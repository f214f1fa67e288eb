import { signUp } from '../accounts.ts';
import type { Attack } from '../attack.ts';
import { formatCounts, outcomeOf } from '../counts.ts';
import type { HttpClient } from '../http-client.ts';

const signIn = 'mutation ($input: SignInInput!) { signIn(input: $input) { accessToken } }';

function attempt(client: HttpClient, email: string, password: string) {
  return client.send(signIn, { input: { email, password } }, { timeoutMs: 30_000 });
}

const massSignUp: Attack = {
  name: 'mass-sign-up',
  promise: 'One address can create at most ten accounts in 15 minutes, even with 30 sign-ups in one operation.',
  async run(sandbox, findings) {
    const server = await sandbox.start();
    const client = sandbox.openClient(server, '127.0.0.3');
    let created = 0;
    for (const round of [0, 1]) {
      const fields = Array.from(
        { length: 30 },
        (_, index) =>
          `s${index}: signUp(input: { name: "n", email: "mass${round}-${index}@example.org", password: "correct horse" }) { expiresAt }`,
      );
      const reply = await client.send(`mutation { ${fields.join(' ')} }`, {}, { timeoutMs: 30_000 });
      created += Object.values(reply.data ?? {}).filter(Boolean).length;
      findings.note(`${reply.status} ${reply.code ?? ''}`);
    }
    const { users } = await sandbox.openClient(server, '127.0.0.4').ask('{ users(limit: 100) { data { id } } }');
    created = Math.max(created, users.data.length);
    findings.note(`${created} accounts were created`);
    findings.expect(created <= 10, `${created} accounts were created`);
  },
};

const lockOut: Attack = {
  name: 'lock-out',
  promise: 'Eleven wrong passwords from one address do not lock out the owner, who signs in from another address.',
  async run(sandbox, findings) {
    const server = await sandbox.start();
    const owner = sandbox.openClient(server, '127.0.0.2');
    const stranger = sandbox.openClient(server, '127.0.0.3');
    const ada = await signUp(owner);
    const codes: (string | undefined)[] = [];
    for (let index = 0; index < 11; index += 1) codes.push((await attempt(stranger, ada.email, `wrong ${index}`)).code);
    findings.expect(codes.at(-1) === 'RATE_LIMITED', `the eleventh guess: ${codes.at(-1)}`);
    const reply = await attempt(owner, ada.email, ada.password);
    findings.expect(reply.status === 200, `the owner: ${reply.status} ${reply.code ?? ''}`);
  },
};

const manyAddresses: Attack = {
  name: 'guessing-from-many-addresses',
  promise: 'The number of password guesses for one account is limited across all addresses.',
  async run(sandbox, findings) {
    const server = await sandbox.start();
    const ada = await signUp(sandbox.openClient(server, '127.0.0.2'));
    const guesses = Array.from({ length: 25 }, async (_, address) => {
      const client = sandbox.openClient(server, `127.0.5.${address + 1}`);
      const codes: (string | undefined)[] = [];
      for (let index = 0; index < 10; index += 1) codes.push((await attempt(client, ada.email, `wrong ${index}`)).code);
      return codes;
    });
    const checked = (await Promise.all(guesses)).flat().filter((code) => code === 'UNAUTHENTICATED').length;
    findings.note(`${checked} of 250 guesses were checked`);
    findings.expect(checked < 250, 'all 250 guesses were checked');
  },
};

const oneOperation: Attack = {
  name: 'guessing-in-one-operation',
  promise: 'Thirty sign-in attempts in one operation are limited like thirty operations.',
  async run(sandbox, findings) {
    const server = await sandbox.start();
    const ada = await signUp(sandbox.openClient(server, '127.0.0.2'));
    const fields = Array.from(
      { length: 30 },
      (_, index) => `s${index}: signIn(input: { email: "${ada.email}", password: "wrong ${index}" }) { expiresAt }`,
    );
    const reply = await sandbox
      .openClient(server, '127.0.0.3')
      .send(`mutation { ${fields.join(' ')} }`, {}, { timeoutMs: 30_000 });
    const checked = reply.text.split('"UNAUTHENTICATED"').length - 1;
    findings.note(`${checked} guesses were checked`);
    findings.expect(checked <= 10, `${checked} of 30 guesses were checked`);
  },
};

const manyPasswords: Attack = {
  name: 'many-passwords',
  promise:
    'Eight hundred passwords of eighty addresses that wait to be hashed do not keep another address from signing in.',
  async run(sandbox, findings) {
    const server = await sandbox.start();
    const ada = await signUp(sandbox.openClient(server, '127.0.0.2'));
    await sandbox.measure(
      server,
      async () => {
        const floods = Array.from({ length: 80 }, (_, address) => {
          const client = sandbox.openClient(server, `127.0.6.${address + 1}`, 10);
          return Array.from({ length: 10 }, (_, index) =>
            attempt(client, `nobody${address}@example.org`, `wrong ${index}`),
          );
        }).flat();
        // The flood has begun when its first password has been refused.
        await Promise.race(floods);
        const reply = await attempt(sandbox.openClient(server, '127.0.0.2'), ada.email, ada.password);
        findings.expect(reply.status === 200, `the owner: ${reply.status} ${reply.code ?? ''}`);
        const replies = await Promise.all(floods);
        findings.note(formatCounts(replies.map(outcomeOf)));
        const others = replies.filter(({ status }) => status !== 401 && status !== 503);
        findings.expect(others.length === 0, `${others.length} attempts had another outcome than 401 and 503`);
      },
      { addresses: 80 },
    );
  },
};

export const signInAttacks: readonly Attack[] = [massSignUp, lockOut, manyAddresses, oneOperation, manyPasswords];
