import { readFileSync } from 'node:fs';
import { serverAudits } from 'graphql-http';
import { expect, it } from 'vitest';
import { shareServer } from '../support/server/shared-server.ts';

/* The audit of https://github.com/graphql/graphql-http tests an older draft of the specification. */

const server = shareServer();
const docs = new URL('../../docs/http.md', import.meta.url);

interface Finding {
  id: string;
  level: string;
  /** The HTTP status of the answer. */
  status: string;
}

async function audit(url: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { id, fn } of serverAudits({ url })) {
    const result = await fn();
    if (result.status !== 'ok') findings.push({ id, level: result.status, status: String(result.response.status) });
  }
  return findings;
}

/** Reads the table in the docs. Its columns: audit, level, expectation, status of the answer, sentence of the edition. */
function readDocumented(): (Finding & { reason: string })[] {
  const rows = readFileSync(docs, 'utf8').matchAll(/^\| (\w{4}) \| (\w+) \| .* \| (\d{3}) \| (.*) \|$/gm);
  return [...rows].map(([, id = '', level = '', status = '', reason = '']) => ({ id, level, status, reason }));
}

it('the audit finds no error, and only the warnings and notices that the docs list and explain', async () => {
  const found = await audit(server.postroom.graphqlUrl);
  const documented = readDocumented();
  expect(found.filter(({ level }) => level === 'error')).toEqual([]);
  expect(documented.map(({ reason: _, ...finding }) => finding)).toEqual(found);
  for (const { reason } of documented) expect(reason).toMatch(/^“If .* status code 4\d\d SHOULD be used\.”$/);
});
