import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { Server } from '../fan-out/server.ts';
import { ratios, spread } from '../fan-out/statistics.ts';
import type { Table } from '../fan-out/table.ts';
import { ask, startOnDatabase } from './contestants.ts';
import { load } from './load.ts';
import type { Run } from './rows.ts';

const connections = 32;
const audience = 'urn:bench';
const query = '{ users(limit: 10) { data { id name posts { id title } } } }';

/** What it costs to know who asks: the real program on its database, one query, by each kind of credentials. */
export async function measureCredentials({ rounds, seconds, nodeOptions }: Run): Promise<Table> {
  const issuer = await openIssuer();
  const settings = { OAUTH_ISSUER: issuer.url, OAUTH_AUDIENCE: audience };
  const { server, token } = await startOnDatabase(nodeOptions, settings);
  try {
    const kinds = await makeCredentials(server, token, issuer);
    const samples = new Map(Object.keys(kinds).map((kind): [string, number[]] => [kind, []]));
    const body = JSON.stringify({ query });
    for (let round = -1; round < rounds; round += 1) {
      for (const [kind, authorization] of Object.entries(kinds)) {
        const { requestsPerSecond } = await load({ port: server.port, body, connections, seconds, authorization });
        if (round >= 0) samples.get(kind)?.push(requestsPerSecond);
      }
    }
    return {
      title: 'Who asks: the same query by each kind of credentials',
      about: `\`${query}\``,
      rows: describe(samples),
    };
  } finally {
    await server.stop();
    issuer.close();
  }
}

function describe(samples: ReadonlyMap<string, number[]>): Record<string, string>[] {
  const anonymous = samples.get('none') ?? [];
  return [...samples].map(([credentials, own]) => ({
    credentials,
    'requests/s': spread(own, 0),
    'it ÷ none': spread(ratios(own, anonymous)),
  }));
}

type Issuer = Awaited<ReturnType<typeof openIssuer>>;

async function makeCredentials(server: Server, token: string, issuer: Issuer) {
  const make = 'mutation { createApiKey(input: { name: "bench", scopes: [READ] }) { key } }';
  const { createApiKey } = await ask(server, make, token);
  return {
    none: undefined,
    session: `Bearer ${token}`,
    'API key': `ApiKey ${createApiKey.key}`,
    "an issuer's token": `Bearer ${await issuer.sign()}`,
  };
}

/** As much of one as is asked of it. */
async function openIssuer() {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }];
  const server = createServer(({ url }, response) => {
    response.end(JSON.stringify(url === '/jwks' ? { keys } : { issuer, jwks_uri: `${issuer}/jwks` }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sign = () =>
    new SignJWT({ sub: 'bench' })
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: 'k' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);
  return { url: issuer, sign, close: () => server.close() };
}
