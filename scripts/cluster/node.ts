import { inRepository } from '../repository.ts';
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
  const asTerminal = ['--import', inRepository('scripts/as-terminal.js')];
  const args = ['--max-semi-space-size=32', ...asTerminal, inRepository('src/main.ts'), 'serve'];
  const program = programs.start(name, process.execPath, args, {
    env: { ...process.env, PORT: '0', ...settings },
    ready: /^Postroom is at (http:\S+)\/graphql/,
    stopSignal: 'SIGTERM',
    ...(onLine && { onLine }),
  });
  const [, url = ''] = await program.ready;
  return { program, url };
}
