import type { Config } from '../../config.ts';
import { ClientError } from '../../errors.ts';

const loopbackAddress = /^(127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/i;
const localhost = /^([\w-]+\.)*localhost$/;

/**
 * Which names a server that listens on this machine alone is called by. A page elsewhere can point a name of its own at
 * 127.0.0.1 (DNS rebinding): to the browser it is then of one origin with the server, and reads every answer. Its requests
 * carry the page's own name in `Host`. Behind a `PUBLIC_URL` or on an address that others reach nothing is checked: there
 * a proxy, or whoever resolves names, decides by which the server is called.
 */
export class OwnHosts {
  readonly #config: Pick<Config, 'host' | 'publicUrl'>;
  #isChecked = false;
  /** The latest that was found to be one: most requests name the same. */
  #latest: string | undefined;

  constructor(config: Pick<Config, 'host' | 'publicUrl'>) {
    this.#config = config;
  }

  /** `address`: the one that the server got. */
  listenOn(address: string): void {
    this.#isChecked = this.#config.publicUrl === undefined && loopbackAddress.test(address);
  }

  /** `authority`: a host and perhaps a port; without one the client is no browser. @throws ClientError MISDIRECTED_REQUEST. */
  assertOwn(authority: string | undefined): void {
    if (!this.#isChecked || authority === undefined || authority === this.#latest) return;
    if (!this.#isOwn(hostOf(authority))) {
      throw new ClientError(
        'MISDIRECTED_REQUEST',
        `${JSON.stringify(authority.slice(0, 100))} is not a name of this server: use localhost, or set PUBLIC_URL.`,
      );
    }
    this.#latest = authority;
  }

  #isOwn(host: string): boolean {
    return localhost.test(host) || loopbackAddress.test(host) || host === this.#config.host.toLowerCase();
  }
}

/** In lower case, without its port, the brackets of an IPv6 address, and the dot that may end a name. */
function hostOf(authority: string): string {
  return authority
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}
