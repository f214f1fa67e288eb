import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { exchange } from '../support/clients/http.ts';
import { launchForTest, type Postroom, type Settings } from '../support/server/postroom.ts';

/** Who may read /metrics on the port of all other paths. All requests of these tests come from a loopback address. */

const stranger = '203.0.113.7';

async function read({ url }: Pick<Postroom, 'url'>, headers: Record<string, string> = {}) {
  const { status, body } = await exchange({ url }, { path: '/metrics', headers });
  return { status, isMetrics: body.includes('postroom_build_info') };
}

const granted = { status: 200, isMetrics: true };
const hidden = { status: 404, isMetrics: false };
const forwardedFor = (addresses: string) => ({ 'x-forwarded-for': addresses });

describe('by default /metrics', () => {
  it('is readable from a loopback address', async () => {
    expect(await read(await launchForTest())).toEqual(granted);
  });

  const other = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address;
  it.skipIf(other === undefined)('does not exist for a client at another address', async () => {
    const { url } = await launchForTest({ HOST: '0.0.0.0' });
    expect(await read({ url: url.replace('0.0.0.0', '127.0.0.1') })).toEqual(granted);
    expect(await read({ url: url.replace('0.0.0.0', String(other)) })).toEqual(hidden);
  });

  it.each([
    ['x-forwarded-for', stranger],
    ['x-forwarded-for', '127.0.0.1'],
    ['x-forwarded-for', ''],
    ['forwarded', `for=${stranger}`],
    ['x-real-ip', '127.0.0.1'],
    ['via', '1.1 proxy'],
  ])('does not exist for a request of a proxy that is not trusted (%s: %s)', async (name, value) => {
    expect(await read(await launchForTest(), { [name]: value })).toEqual(hidden);
  });

  it('is answered for other clients like a path that does not exist, with any method', async () => {
    const postroom = await launchForTest({ TRUST_PROXY: '1' });
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE']) {
      const [metrics, nothing] = await Promise.all(
        ['/metrics', '/nothing'].map(async (path) => {
          const { status, headers, body } = await exchange(postroom, { method, path, headers: forwardedFor(stranger) });
          return { status, names: Object.keys(headers), body: body.replace(/"requestId":"[^"]+"/, '') };
        }),
      );
      expect(metrics, method).toEqual(nothing);
      expect(metrics?.status, method).toBe(404);
    }
    const { body } = await exchange(postroom, { path: '/metrics' });
    expect(body).toContain('http_server_request_duration_seconds_count{http_request_method="POST"');
    expect(body).not.toMatch(/http_response_status_code="404",http_route/);
  });
});

describe('behind trusted proxies, the client is the address that they have forwarded:', () => {
  const cases: [Settings, string, typeof granted | typeof hidden][] = [
    [{ TRUST_PROXY: '1' }, stranger, hidden],
    [{ TRUST_PROXY: '1' }, `127.0.0.1, ${stranger}`, hidden],
    [{ TRUST_PROXY: '1' }, `${stranger}, 127.0.0.1`, granted],
    [{ TRUST_PROXY: '1' }, '127.0.0.1:4321', granted],
    [{ TRUST_PROXY: '1' }, '::1', granted],
    [{ TRUST_PROXY: '1' }, '[::1]:4321', granted],
    [{ TRUST_PROXY: '1' }, 'unknown', hidden],
    [{ TRUST_PROXY: '1' }, '', hidden],
    [{ TRUST_PROXY: '2' }, `127.0.0.1, ${stranger}, 127.0.0.1`, hidden],
    [{ TRUST_PROXY: '2' }, '127.0.0.1', hidden],
  ];
  it.each(cases)('%j with %j', async (settings, addresses, expected) => {
    expect(await read(await launchForTest(settings), forwardedFor(addresses))).toEqual(expected);
  });

  it('a request that comes from this machine without a proxy is readable', async () => {
    expect(await read(await launchForTest({ TRUST_PROXY: '1' }))).toEqual(granted);
  });
});

describe('METRICS_NETWORKS', () => {
  it('may read /metrics, and this machine still may', async () => {
    const METRICS_NETWORKS = '10.1.0.0/16, 192.0.2.7/32,2001:db8:1::/48';
    const postroom = await launchForTest({ TRUST_PROXY: '1', METRICS_NETWORKS });
    expect(await read(postroom)).toEqual(granted);
    for (const address of ['10.1.255.255', '::ffff:10.1.2.3', '192.0.2.7', '2001:db8:1::1', '[2001:DB8:1:2::3]:443']) {
      expect(await read(postroom, forwardedFor(address)), address).toEqual(granted);
    }
    for (const address of ['10.2.0.0', '::ffff:10.2.0.0', '192.0.2.8', '2001:db8:2::1', stranger, '10.1', 'x']) {
      expect(await read(postroom, forwardedFor(address)), address).toEqual(hidden);
    }
  });

  it('has no effect on a request of a proxy that is not trusted, whose client is not known', async () => {
    const postroom = await launchForTest({ METRICS_NETWORKS: '127.0.0.0/8,203.0.113.0/24' });
    expect(await read(postroom, forwardedFor(stranger))).toEqual(hidden);
  });
});

it('with METRICS_PUBLIC=true everybody may read /metrics', async () => {
  for (const TRUST_PROXY of ['0', '1']) {
    const postroom = await launchForTest({ TRUST_PROXY, METRICS_PUBLIC: 'true' });
    expect(await read(postroom, forwardedFor(stranger))).toEqual(granted);
  }
});
