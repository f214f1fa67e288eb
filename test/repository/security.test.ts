import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
const rows = page.split('\n').filter((line) => line.includes('`test/'));

it('docs/security.md has a row for each of the ten risks of OWASP', () => {
  const risks = rows.flatMap((row) => /^\| \[(API\d+)\]/.exec(row)?.[1] ?? []);
  expect(risks).toEqual(Array.from({ length: 10 }, (_, index) => `API${index + 1}`));
});

it('each test that docs/security.md names exists in its file', () => {
  const references = rows.flatMap((row) => [...row.matchAll(/`(test\/\S+\.test\.ts)`: ((?:"[^"]+"(?:, )?)+)/g)]);
  expect(references.length).toBeGreaterThanOrEqual(rows.length);
  for (const [, file = '', titles = ''] of references) {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    for (const [, title] of titles.matchAll(/"([^"]+)"/g)) expect(text, file).toContain(title);
  }
});
