import { expect, it } from 'vitest';
import { attacks } from '../../scripts/attack/list.ts';

it('every attack has a name of its own and a promise that is a sentence', () => {
  expect(new Set(attacks.map(({ name }) => name)).size).toBe(attacks.length);
  for (const { promise } of attacks) expect(promise).toMatch(/^[A-Z\d].*\.$/);
});
