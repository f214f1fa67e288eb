import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

type Environment = Record<string, string>;

export interface Outcome {
  succeeded: boolean;
  /** Standard output and standard error. */
  output: string;
}

/** Runs npm in a folder, in a process group of its own: npm does not pass a signal on to the program of a script. */
export function startNpm(folder: string, args: string[], settings: Environment = {}): ChildProcess {
  const child = spawn('npm', args, {
    cwd: folder,
    env: { ...process.env, ...settings },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => signalGroup(child, 'SIGKILL');
  process.once('exit', kill);
  child.once('close', () => process.off('exit', kill));
  return child;
}

export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

export async function runNpm(folder: string, args: string[], settings: Environment = {}): Promise<Outcome> {
  const child = startNpm(folder, args, settings);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const [status] = await once(child, 'close');
  return { succeeded: status === 0, output };
}
