import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { inRepository } from '../../scripts/repository.ts';

it('npm start: after SIGTERM to npm the server stops in order, whatever the shell of npm does with the signal', async () => {
  const settings = { PORT: '0', DATABASE_URL: 'sqlite::memory:', npm_config_script_shell: 'sh' };
  // In a process group of its own, which contains the shell and the server.
  const npm = spawn('npm', ['start'], {
    cwd: inRepository(),
    env: { PATH: process.env['PATH'], ...settings },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    try {
      if (npm.pid !== undefined) process.kill(-npm.pid, 'SIGKILL');
    } catch (error) {
      expect(error).toMatchObject({ code: 'ESRCH' });
    }
  });
  const messages: string[] = [];
  createInterface(npm.stderr).on('line', (line) => messages.push(/"msg":"(\w+)"/.exec(line)?.[1] ?? ''));
  await expect.poll(() => messages).toContain('started');
  // The output is closed when the last of the processes has ended, npm, the shell or the server.
  const closed = once(npm, 'close');
  npm.stdout.resume();
  npm.kill('SIGTERM');
  await closed;
  expect(messages.filter((message) => /^st/.test(message))).toEqual(['started', 'stopping', 'stopped']);
});
