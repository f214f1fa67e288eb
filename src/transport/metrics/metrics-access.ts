import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Config } from '../../config/config.ts';
import { exactAddressOf } from '../address.ts';
import { loopbackAddress } from '../http/allowed-hosts.ts';

/** Whether the client may read the metrics on the public port. */
export function mayReadMetrics(request: IncomingMessage, config: Config): boolean {
  const address = exactAddressOf(request, config.trustProxy);
  // A loopback address that was forwarded is one of the proxy's machine.
  const isLocal = loopbackAddress.test(address) && loopbackAddress.test(request.socket.remoteAddress ?? '');
  if (config.metricsPublic || isLocal) return true;
  return isIP(address) !== 0 && config.metricsNetworks.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
}
