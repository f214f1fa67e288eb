import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { BadSetting } from '../config/bad-setting.ts';
import type { Config } from '../config/config.ts';

type Addresses = Pick<Config, 'host' | 'port' | 'metricsPort'>;

/**
 * Opens and closes the listening sockets, so that a start with an unusable address fails before it has created anything.
 * @throws BadSetting
 */
export async function assertAddressesFree({ host, port, metricsPort }: Addresses): Promise<void> {
  // All are open at the same time, so that equal ports are found, too.
  const opened: Server[] = [];
  try {
    opened.push(await open('PORT', host, port));
    if (metricsPort !== undefined) opened.push(await open('METRICS_PORT', host, metricsPort));
  } finally {
    await Promise.all(opened.map((server) => once(server.close(), 'close')));
  }
}

async function open(setting: 'PORT' | 'METRICS_PORT', host: string, port: number): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  try {
    await once(server.listen({ host, port }), 'listening');
    return server;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'EADDRINUSE') throw new BadSetting(setting, String(port), 'must be a port that is not in use');
    if (unknownHost.includes(code)) throw new BadSetting('HOST', host, 'must be an address or a name of this machine');
    throw error;
  }
}

const unknownHost = ['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EINVAL'];
