import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inRepository } from '../../scripts/repository.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { run, type Settings, scratchFolder } from '../support/server/postroom.ts';

/** `postroom check --production`. */

// The command creates no database.
const complete: Record<string, string> = {
  PUBLIC_URL: 'https://chat.example.org',
  TRUST_PROXY: '1',
  DATABASE_URL: `sqlite:${join(tmpdir(), 'postroom-of-nobody', 'postroom.db')}`,
  SESSION_KEY: newSessionKey(),
  METRICS_PORT: '9464',
};
const names = Object.keys(complete);

async function check(settings: Settings) {
  const { status, stdout, stderr } = await run(['check', '--production'], settings);
  expect(stderr).toBe('');
  return {
    status,
    lines: stdout
      .trimEnd()
      .split('\n')
      .filter((line) => line.startsWith('production: ')),
  };
}

/** Expects one line, which is about this setting. */
async function expectMissing(name: string, settings: Settings): Promise<void> {
  expect(await check(settings)).toEqual({
    status: 1,
    lines: [expect.stringMatching(new RegExp(`^production: failed: ${name} must be .+[,:] .+$`))],
  });
}

describe('check --production', () => {
  it('succeeds if all five settings are set, after what check prints without it', async () => {
    const plain = await run(['check'], complete);
    const { status, stdout } = await run(['check', '--production'], complete);
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${plain.stdout}production: ok\n` });
  });

  it.each([
    ['PUBLIC_URL', 'http://chat.example.org'],
    ['DATABASE_URL', `sqlite:${relative(process.cwd(), join(tmpdir(), 'postroom-of-nobody', 'postroom.db'))}`],
  ])('%s=%s does not count as set', async (name, value) => {
    await expectMissing(name, { ...complete, [name]: value });
  });

  it('accepts a secret that is in a file, and that no proxy adds to X-Forwarded-For', async () => {
    const { SESSION_KEY = '', ...settings } = complete;
    const file = join(scratchFolder(), 'key');
    writeFileSync(file, SESSION_KEY);
    expect(await check({ ...settings, SESSION_KEY_FILE: file, TRUST_PROXY: '0' })).toMatchObject({ status: 0 });
  });

  it('names all that is missing, and plain check asks for nothing of it', async () => {
    const empty = { ...Object.fromEntries(names.map((name) => [name, ''])), DATABASE_URL: 'sqlite::memory:' };
    const { status, lines } = await check(empty);
    expect(status).toBe(1);
    expect(lines.map((line) => /failed: (\w+)/.exec(line)?.[1])).toEqual(names);
    expect((await run(['check'], empty)).status).toBe(0);
  });

  it('fails if plain check fails', async () => {
    expect((await check({ ...complete, HOST: '203.0.113.1' })).status).toBe(1);
  });

  it('asks for the settings of the checklist in the README', () => {
    const [, section = ''] = /^## Production$(.*?)^## /ms.exec(readFileSync(inRepository('README.md'), 'utf8')) ?? [];
    expect([...section.matchAll(/^\d\. `(\w+)=/gm)].map(([, name]) => name)).toEqual(names);
  });
});
