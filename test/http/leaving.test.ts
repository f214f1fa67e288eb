import { expect, it } from 'vitest';
import { recommendedCost } from '../../src/identity/session/passwords.ts';
import { exchange, postOf, RawConnection } from '../support/clients/http.ts';
import { launchForTest } from '../support/server/postroom.ts';

it('the work for a client ends when the client disconnects', async () => {
  const postroom = await launchForTest({}, { passwordCost: recommendedCost });
  const signUp = (index: number) =>
    `n${index}: signUp(input: { name: "left", email: "left${index}@example.org", password: "correct horse" }) { user { id } }`;
  const mutation = `mutation { ${Array.from({ length: 30 }, (_, index) => signUp(index)).join(' ')} }`;
  const count = async () =>
    (await postroom.ask('{ users(filter: { name: "left" }) { pagination { total } } }')).users.pagination.total;
  const connection = await RawConnection.open(postroom);
  connection.send(postOf(mutation));
  await expect.poll(count, { interval: 5 }).toBeGreaterThan(0);
  connection.leave();
  // These 30 sign-ups also run one after the other and take as long, so a mutation that continued would be complete.
  for (let index = 0; index < 30; index += 1) await postroom.signUp('someone');
  expect(await count()).toBeLessThan(30);
  expect(postroom.log).toEqual([]);
});

it('a request whose body is cut off does not run', async () => {
  const postroom = await launchForTest();
  const input = '{ name: "x", email: "x@example.org", password: "correct horse" }';
  const connection = await RawConnection.open(postroom);
  connection.send(postOf(`mutation { signUp(input: ${input}) { user { id } } }`).slice(0, -1));
  connection.leave();
  await connection.closed();
  await postroom.signUp('someone');
  expect(await postroom.ask('{ users { data { name } } }')).toEqual({ users: { data: [{ name: 'someone' }] } });
  expect((await exchange(postroom, { path: '/ready' })).status).toBe(200);
  expect(postroom.log).toEqual([]);
});
