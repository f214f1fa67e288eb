import { describe, expect, it } from 'vitest';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();
const filterUsers = 'query ($filter: UserFilter) { users(filter: $filter) { data { id } } }';

function fieldsOf(count: number, value: unknown = 0): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, value]));
}

describe('invalid variables', () => {
  it('are described one by one, with their values', async () => {
    const { status, errors } = await server.postroom.send(filterUsers, { filter: fieldsOf(3) });
    expect(status).toBe(422);
    expect(errors).toHaveLength(3);
    const message = expect.stringContaining('unknown field "field0", found: { field0: 0, field1: 0, field2: 0 }');
    expect(errors?.[0]).toMatchObject({ message, extensions: { code: 'VARIABLES_INVALID' } });
  });

  it.each([
    ['of an object with many fields', fieldsOf(1_001)],
    ['of an object with many fields in its fields', fieldsOf(40, fieldsOf(40))],
    ['of an object in lists', [Array.from({ length: 20 }, () => fieldsOf(60))]],
    ['of an object with long strings', fieldsOf(11, 'x'.repeat(3_000))],
    ['of an object with long names', { ['a'.repeat(20_000)]: 0, ['b'.repeat(20_000)]: 0 }],
    ['of a long string', 'x'.repeat(30_001)],
  ])('%s are refused with one error, which has the name of the variable and its position only', async (_, filter) => {
    const { status, errors } = await server.postroom.send(filterUsers, { filter });
    expect(status).toBe(422);
    expect(errors).toEqual([
      {
        message: 'Variable "$filter" has an invalid value. The variables are too long for a description of the error.',
        locations: [{ line: 1, column: 8 }],
        extensions: { code: 'VARIABLES_INVALID' },
      },
    ]);
  });

  it('are described if only valid variables are long', async () => {
    const query = 'query ($long: String, $page: Int!) { users(filter: { name: $long }, page: $page) { data { id } } }';
    const { errors } = await server.postroom.send(query, { long: 'x'.repeat(40_000) });
    expect(errors).toMatchObject([{ message: expect.stringContaining('"$page" has invalid value: Expected') }]);
  });
});

it('long variables that are valid are accepted', async () => {
  const filter = { name: 'x'.repeat(40_000) };
  expect(await server.postroom.send(filterUsers, { filter })).toMatchObject({ data: { users: { data: [] } } });
});
