import { once } from 'node:events';
import { createServer } from 'node:net';
import { BadSetting } from '../bad-setting.ts';
import type { Config } from '../config.ts';

/**
 * Opens and closes a listening socket, so that a start with an unusable address fails before it has created anything.
 * @throws BadSetting if HOST is not an address of this machine, or an Error with a code such as EADDRINUSE.
 */
export async function assertAddressFree({ host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  try {
    await once(server.listen({ host, port }), 'listening');
  } catch (error) {
    if (isUnknownHost(error)) throw new BadSetting('HOST', host, 'must be an address or a name of this machine');
    throw error;
  }
  server.close();
  await once(server, 'close');
}

function isUnknownHost(error: unknown): boolean {
  const codes = ['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EINVAL'];
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
