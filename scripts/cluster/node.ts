import { inRepository } from '../repository.ts';
import { startedLine } from '../started-line.ts';
import type { Program, Programs } from './program.ts';

export interface Node {
  program: Program;
  url: string;
}

/** Starts the server as it runs in production, with these settings. */
export async function startNode(
  programs: Programs,
  name: string,
  settings: Record<string, string | undefined>,
  onLine?: (line: string) => void,
): Promise<Node> {
  // Other levels leave out the line with the address.
  const level = process.env['LOG_LEVEL'] === 'debug' ? 'debug' : 'info';
  const args = ['--max-semi-space-size=32', inRepository('src/main.ts'), 'serve'];
  const program = programs.start(name, process.execPath, args, {
    env: { ...process.env, PORT: '0', ...settings, LOG_LEVEL: level },
    ready: startedLine,
    stopSignal: 'SIGTERM',
    ...(onLine && { onLine }),
  });
  const [, url = ''] = await program.ready;
  return { program, url };
}
