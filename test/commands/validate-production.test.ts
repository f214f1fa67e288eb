import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inRepository } from '../../scripts/repository.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { run, type Settings, scratchFolder } from '../support/server/postroom.ts';

/** `postroom validate --production`. */

// The command creates no database.
const complete: Record<string, string> = {
  PUBLIC_URL: 'https://chat.example.org',
  TRUST_PROXY: '1',
  DATABASE_URL: `sqlite:${join(tmpdir(), 'postroom-of-nobody', 'postroom.db')}`,
  SESSION_KEY: newSessionKey(),
  METRICS_PORT: '9464',
};
const names = Object.keys(complete);

async function validate(settings: Settings) {
  const { status, stdout, stderr } = await run(['validate', '--production'], settings);
  expect(stderr).toBe('');
  return { status, lines: stdout.split('\n').filter((line) => line.startsWith('production: ')) };
}

/** Expects one line for each of these settings, which is about it. */
async function expectMissing(missing: string[], settings: Settings): Promise<void> {
  const lines = missing.map((name) =>
    expect.stringMatching(new RegExp(`^production: failed: ${name} must be .+[,:] .+$`)),
  );
  expect(await validate(settings)).toEqual({ status: 1, lines });
}

describe('validate --production', () => {
  it('succeeds after what validate prints without it, also if a secret is in a file, and no proxy adds to X-Forwarded-For', async () => {
    const { SESSION_KEY = '', ...others } = complete;
    const file = join(scratchFolder(), 'key');
    writeFileSync(file, SESSION_KEY);
    const settings = { ...others, SESSION_KEY_FILE: file, TRUST_PROXY: '0' };
    const plain = await run(['validate'], settings);
    const { status, stdout } = await run(['validate', '--production'], settings);
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${plain.stdout}production: ok\n` });
  });

  it('names a setting whose value does not count as set', async () => {
    const path = relative(process.cwd(), join(tmpdir(), 'postroom-of-nobody', 'postroom.db'));
    const wrong = { PUBLIC_URL: 'http://chat.example.org', DATABASE_URL: `sqlite:${path}` };
    await expectMissing(Object.keys(wrong), { ...complete, ...wrong });
  });

  it('names all that is missing', async () => {
    await expectMissing(names, {
      ...Object.fromEntries(names.map((name) => [name, ''])),
      DATABASE_URL: 'sqlite::memory:',
    });
  });

  it('fails if plain validate fails', async () => {
    expect(await validate({ ...complete, HOST: '203.0.113.1' })).toEqual({ status: 1, lines: ['production: ok'] });
  });

  it('asks for the settings of the checklist in the README', () => {
    const [, section = ''] = /^## Production$(.*?)^## /ms.exec(readFileSync(inRepository('README.md'), 'utf8')) ?? [];
    expect([...section.matchAll(/^\d\. `(\w+)=/gm)].map(([, name]) => name)).toEqual(names);
  });
});
