import { expect, it } from 'vitest';
import { connectAs, sendAs } from '../support/identity/credentials.ts';
import { launchForTest } from '../support/server/postroom.ts';

/* A guess of a key or token counts against the rate limit of the address that sent it. */

const limit = 10;
/** A well-formed key that does not exist. */
const guess = 'ApiKey pr_live_0000000000000000000000000000000000';

async function launch() {
  const postroom = await launchForTest({ RATE_LIMIT: String(limit), LOG_LEVEL: 'info' });
  const ada = await postroom.signUp('Ada');
  // The sign-up counted as one operation of the address.
  return { postroom, ada, left: limit - 1 };
}

it('a client that guesses credentials receives 429, and writes no more log lines than the rate allows', async () => {
  const { postroom, left } = await launch();
  const replies = [];
  for (let n = 0; n < left + 5; n += 1) replies.push(await sendAs(postroom, n % 2 ? guess : `Bearer guess-${n}`));
  expect(replies.map(({ status }) => status)).toEqual([...Array(left).fill(401), ...Array(5).fill(429)]);
  expect(replies.at(-1)).toMatchObject({
    challenge: null,
    errors: [{ extensions: { code: 'RATE_LIMITED', retryAfterMs: expect.any(Number) } }],
  });
  const { headers } = await postroom.send('{ viewer { id } }', {}, 'guess');
  expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(headers.get('ratelimit')).toMatch(/^"default";r=0;t=\d+$/);
  const refused = () => postroom.log.filter(({ msg }) => msg === 'credentialsRefused').length;
  await expect.poll(refused).toBe(left);
});

it('over WebSocket, a wrong guess closes the socket with 4403, and a guess over the rate with 1013, so that clients reconnect later', async () => {
  const { postroom, left } = await launch();
  for (let n = 0; n < left; n += 1) expect(await connectAs(postroom, guess)).toBe(4403);
  expect(await connectAs(postroom, guess)).toBe(1013);
  expect(postroom.log.filter(({ level }) => Number(level) > 30)).toEqual([]);
});

it('a client with valid credentials at the same address has a rate of its own', async () => {
  const { postroom, ada, left } = await launch();
  for (let n = 0; n < left; n += 1) await sendAs(postroom, guess);
  expect((await sendAs(postroom, guess)).status).toBe(429);
  const good = `Bearer ${ada.token}`;
  for (let n = 0; n < limit; n += 1) expect((await sendAs(postroom, good)).status).toBe(200);
  expect((await sendAs(postroom, good)).status).toBe(429);
  expect(await connectAs(postroom, good)).toBe('admitted');
  // A request without credentials counts against the rate limit of the address, which is used up.
  expect((await sendAs(postroom, undefined)).status).toBe(429);
});
