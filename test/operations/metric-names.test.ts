import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { RawConnection } from '../support/clients/http.ts';
import { parseMetrics, readSamples, readSeries } from '../support/engine/metrics.ts';
import { launchForTest, launchProcessForTest } from '../support/server/postroom.ts';

const inRepository = (path: string) => new URL(`../../${path}`, import.meta.url);

/** The names of metrics in a text, without the suffixes of the series of a histogram. */
function findNames(text: string): string[] {
  const names = text.match(/\b(postroom|http_server|nodejs|process)_[a-z0-9_]+/g) ?? [];
  return names.map((name) => name.replace(/_(bucket|sum|count)$/, ''));
}

it('/metrics has exactly the metrics of docs/metrics.md, and a parser reads them', async () => {
  const families = await parseMetrics(await launchForTest());
  const rows = (await readFile(inRepository('docs/metrics.md'), 'utf8')).match(/^\| `\w+.*$/gm) ?? [];
  const documented = rows.flatMap((row) => findNames(row.split('|')[1] ?? ''));
  expect([...families.keys()].sort()).toEqual([...new Set(documented)].sort());
  for (const { name, help, type, metrics } of families.values()) {
    expect(help, name).not.toBe('');
    expect(['COUNTER', 'GAUGE', 'HISTOGRAM']).toContain(type);
    expect(name.endsWith('_total'), name).toBe(type === 'COUNTER');
    if (type !== 'HISTOGRAM') for (const { value } of metrics) expect(Number(value), name).not.toBeNaN();
  }
});

it('the buckets of a histogram are cumulative, and the last one counts all values', async () => {
  const postroom = await launchForTest();
  await postroom.signUp('Ada');
  await postroom.send('{ __typename }');
  for (const name of ['http_server_request_duration_seconds', 'postroom_database_seconds']) {
    const bySeries = Map.groupBy(await readSamples(postroom, `${name}_bucket`), ({ labels: { le: _, ...rest } = {} }) =>
      Object.values(rest).join(' '),
    );
    const totals = await readSeries(postroom, `${name}_count`);
    const sums = await readSeries(postroom, `${name}_sum`);
    expect(Object.keys(totals).length).toBeGreaterThan(0);
    for (const [series, total] of Object.entries(totals)) {
      // Each read is a request, too, and reads the database.
      if (series.includes('/metrics') || series === 'read') continue;
      const buckets = bySeries.get(series) ?? [];
      expect(buckets.at(-1)).toMatchObject({ labels: { le: '+Inf' }, value: String(total) });
      const counts = buckets.map(({ value }) => Number(value));
      expect(counts).toEqual(counts.toSorted((a, b) => a - b));
      expect(sums[series]).toBeGreaterThan(0);
    }
  }
});

it('every metric of the Grafana dashboard exists', async () => {
  const { panels } = JSON.parse(await readFile(inRepository('ops/grafana-dashboard.json'), 'utf8'));
  const queries: string[] = panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
    targets.map(({ expr }) => expr),
  );
  const families = await parseMetrics(await launchForTest());
  expect(queries.length).toBeGreaterThan(10);
  for (const query of queries) {
    const names = findNames(query);
    expect(names, query).not.toEqual([]);
    for (const name of names) expect([...families.keys()], query).toContain(name);
  }
});

it('requests for /metrics that wait at the same time get the same values, which are read once', async () => {
  const connection = await RawConnection.open(await launchForTest());
  const count = 8;
  connection.send('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(count));
  const bodies: string[] = [];
  for (let index = 0; index < count; index += 1) bodies.push((await connection.receive()).body);
  // The CPU time is different at each read.
  expect(bodies[0]).toMatch(/^process_cpu_seconds_total \d/m);
  expect(new Set(bodies).size).toBe(1);
});

it('with METRICS_PORT the metrics are on that port only, and nothing else is there', async () => {
  const postroom = await launchProcessForTest({ METRICS_PORT: '0', LOG_LEVEL: 'info' });
  await expect.poll(() => postroom.log.find(({ msg }) => msg === 'started')).toBeDefined();
  const metrics = String(postroom.log.find(({ msg }) => msg === 'started')?.['metrics']);
  expect(new URL(metrics).port).not.toBe(new URL(postroom.url).port);
  expect((await fetch(`${postroom.url}/metrics`)).status).toBe(404);
  expect((await parseMetrics({ url: metrics })).get('postroom_build_info')?.metrics[0]?.value).toBe('1');
  for (const path of ['/', '/graphql', '/health', '/metrics/']) {
    expect((await fetch(new URL(path, metrics))).status, path).toBe(404);
  }
  const connection = await RawConnection.open({ url: metrics });
  connection.send('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(9));
  await connection.closed();
  const posted = await fetch(metrics, { method: 'POST', body: 'x' });
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  expect(await postroom.stop()).toBe(0);
});
