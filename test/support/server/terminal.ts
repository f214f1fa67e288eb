import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { withTestDatabase } from '../database/test-database.ts';
import { main, programEnvironment, type Settings } from './postroom.ts';

/** Runs a command at a pseudoterminal, and answers each prompt for a password. Returns what the terminal shows. */
export async function typePasswords(args: readonly string[], settings: Settings, answers: readonly string[]) {
  const env = { ...programEnvironment, ...(await withTestDatabase(settings)) };
  const command = [process.execPath, main, ...args].join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], { env });
  onTestFinished(() => void child.kill());
  let shown = '';
  child.stdout.on('data', (chunk) => {
    shown += chunk;
  });
  for (const [n, answer] of answers.entries()) {
    while (shown.split(/(?:New password|Repeat it): /).length < n + 2) await once(child.stdout, 'data');
    child.stdin.write(`${answer}\r`);
  }
  const [status] = await once(child, 'close');
  return { status, shown };
}
