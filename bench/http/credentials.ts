import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { ask } from '../support/client.ts';
import { measureInTurn } from '../support/rounds.ts';
import { ratios, spread } from '../support/statistics.ts';
import type { Table } from '../support/table.ts';
import { startOnDatabase } from './candidates.ts';
import { load } from './load.ts';
import type { Run } from './rows.ts';

const connections = 32;
const audience = 'urn:bench';
const query = '{ users(limit: 10) { data { id name posts { id title } } } }';

/** The cost of authentication: the real program with one query and each kind of credentials. */
export async function measureCredentials({ rounds, seconds, nodeOptions }: Run): Promise<Table> {
  const issuer = await startIssuer();
  const settings = { OAUTH_ISSUER: issuer.url, OAUTH_AUDIENCE: audience };
  const { server, token } = await startOnDatabase(nodeOptions, settings);
  try {
    const credentials = await createCredentials(server.port, token, issuer);
    const body = JSON.stringify({ query });
    const samples = await measureInTurn(credentials, { rounds, warmUpRounds: 1 }, ({ authorization }) =>
      load({ port: server.port, body, connections, seconds, authorization }),
    );
    const rates = samples.map((loads) => loads.map(({ requestsPerSecond }) => requestsPerSecond));
    const [withoutCredentials = []] = rates;
    const rows = credentials.map(({ name }, index) => ({
      credentials: name,
      'requests/s': spread(rates[index] ?? [], 0),
      '÷ none': spread(ratios(rates[index] ?? [], withoutCredentials)),
    }));
    return { title: 'The same query with each kind of credentials', about: `\`${query}\``, rows };
  } finally {
    await server.stop();
    issuer.close();
  }
}

interface Credentials {
  name: string;
  /** The value of the header `Authorization`. */
  authorization: string | undefined;
}

type Issuer = Awaited<ReturnType<typeof startIssuer>>;

async function createCredentials(port: number, token: string, issuer: Issuer): Promise<Credentials[]> {
  const mutation = 'mutation { createApiKey(input: { name: "bench", scopes: [READ] }) { key } }';
  const { createApiKey } = await ask(port, { query: mutation, token });
  return [
    { name: 'none', authorization: undefined },
    { name: 'session', authorization: `Bearer ${token}` },
    { name: 'API key', authorization: `ApiKey ${createApiKey.key}` },
    { name: 'token of an issuer', authorization: `Bearer ${await issuer.sign()}` },
  ];
}

/** An OAuth issuer with only its metadata and its keys. */
async function startIssuer() {
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
