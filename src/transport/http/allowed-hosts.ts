import type { Config } from '../../config/config.ts';
import { ClientError } from '../../errors.ts';

export const loopbackAddress = /^(127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/i;
const localhost = /^([\w-]+\.)*localhost$/;

/**
 * The host names that are valid for a server that listens on a loopback address. A page of another site can point its
 * own name at 127.0.0.1 (DNS rebinding). For the browser the page and the server then have the same origin, and the
 * page can read every answer; but its requests have the name of the page in `Host`. With a `PUBLIC_URL`, or on an
 * address that other machines can reach, nothing is checked: a proxy or the DNS then decides which names lead to the
 * server.
 */
export class AllowedHosts {
  readonly #config: Pick<Config, 'host' | 'publicUrl'>;
  #isChecked = false;
  /** The latest valid authority, cached because most requests have the same one. */
  #latest: string | undefined;

  constructor(config: Pick<Config, 'host' | 'publicUrl'>) {
    this.#config = config;
  }

  /** `address`: the address on which the server listens. */
  listenOn(address: string): void {
    this.#isChecked = this.#config.publicUrl === undefined && loopbackAddress.test(address);
  }

  /**
   * `authority`: a host with an optional port; undefined: the client is not a browser. @throws ClientError MISDIRECTED_REQUEST.
   */
  assertOwn(authority: string | undefined): void {
    if (!this.#isChecked || authority === undefined || authority === this.#latest) return;
    const host = hostOf(authority);
    if (!localhost.test(host) && !loopbackAddress.test(host) && host !== this.#config.host.toLowerCase()) {
      throw new ClientError(
        'MISDIRECTED_REQUEST',
        `${JSON.stringify(authority.slice(0, 100))} is not a name of this server: use localhost, or set PUBLIC_URL.`,
      );
    }
    this.#latest = authority;
  }
}

/** The host in lower case, without the port, the brackets of an IPv6 address and a final dot. */
function hostOf(authority: string): string {
  return authority
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}
