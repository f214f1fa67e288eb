import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { launchForTest, mainProgram, scratchFolder } from '../support/server/postroom.ts';

const hasStrace = spawnSync('strace', ['-V']).status === 0;

describe('the session key', () => {
  it.each([
    '',
    ' \n',
  ])('of a file that a crash left with %j is created again, and kept from then on', async (content) => {
    const folder = scratchFolder();
    const key = join(folder, 'session-key.pem');
    const settings = { DATABASE_URL: `sqlite:${join(folder, 'postroom.db')}` };
    writeFileSync(key, content);
    const first = await launchForTest(settings);
    const ada = await first.signUp('Ada');
    await first.stop();
    expect(readFileSync(key, 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    expect(statSync(key).mode & 0o777).toBe(0o600);
    const second = await launchForTest(settings);
    expect((await second.send('{ viewer { id } }', {}, ada.token)).data).toEqual({ viewer: { id: ada.id } });
  });

  it.skipIf(!hasStrace)('and its name are on the disk before the server is ready (strace)', async () => {
    const folder = scratchFolder();
    const trace = join(folder, 'trace');
    const data = join(folder, 'data');
    const calls = 'trace=fsync,fdatasync,link,linkat,write';
    // With -D the spawned process is the server, which strace traces from another process: SIGTERM reaches the server.
    const program = ['-D', '-f', '-y', '-s', '40', '-e', calls, '-o', trace, process.execPath, ...mainProgram];
    const env = { PATH: process.env['PATH'], PORT: '0', DATABASE_URL: `sqlite:${join(data, 'postroom.db')}` };
    const server = spawn('strace', program, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    await once(server.stderr, 'data');
    server.kill('SIGTERM');
    await once(server, 'exit');
    const lines = readFileSync(trace, 'utf8').split('\n');
    const expected = [
      /f(data)?sync\(\d+<[^>]*session-key\.pem\.\d+>\)/,
      /link(at)?\(.*session-key\.pem/,
      new RegExp(`f(data)?sync\\(\\d+<${data}>\\)`),
      /write\(2<.*level\\":30/,
    ];
    let place = -1;
    for (const pattern of expected) {
      const next = lines.findIndex((line, index) => index > place && pattern.test(line));
      expect(next, `${pattern} after line ${place} of ${lines.join('\n')}`).toBeGreaterThan(place);
      place = next;
    }
  });
});
