import type { Attack } from '../attack.ts';
import { formatCounts, outcomeOf } from '../counts.ts';
import type { HttpClient } from '../http-client.ts';
import { createPostgresDatabase, runSql } from '../postgres.ts';

const posts = 400_000;
const searches = 8;
const attackMs = 6_000;
/** For small reads of others. Without connections of their own, half of them take as long as several searches. */
const maxMedianMs = 50;
const maxP99Ms = 500;

/** The index would only make the attack start later: it does not help to find two characters. */
const fill = `
  drop index "postsByTitle";
  insert into users ("id", "name", "createdAt", "updatedAt", "version") values ('u', 'Ada', 1, 1, 1);
  insert into rooms ("id", "name", "head", "createdAt", "updatedAt", "version") values ('r', 'hall', 0, 1, 1, 1);
  insert into posts ("id", "roomId", "authorId", "title", "publishedAt", "createdAt", "updatedAt", "version")
    select 'p' || i, 'r', 'u', 'one of many posts, number ' || i, i, i, i, 1 from generate_series(1, ${posts}) as i;
  analyze posts`;

/** No post contains these two characters, so that a search reads all titles. */
const search = '{ posts(filter: { title: "~~" }, limit: 1) { data { id } } }';

const onPostgres: Attack = {
  name: 'long-reads-postgres',
  promise:
    'On PostgreSQL, eight concurrent searches of one address by title over 400,000 posts do not delay the small reads of others, and callers take turns.',
  async run(sandbox, findings) {
    const settings = await createPostgresDatabase(sandbox);
    if (!settings) return findings.note('skipped: there is no PostgreSQL server at POSTGRES_URL');
    // Without the rate, which would soon end the attack, so that only the turns protect the others.
    const server = await sandbox.start({ settings: { ...settings, RATE_LIMIT: '0' } });
    await runSql(settings['DATABASE_URL'] ?? '', fill);
    const attacker = sandbox.openClient(server, '127.0.0.9');
    const other = sandbox.openClient(server, '127.0.0.10');
    const [searching = [], ...attacking] = await sandbox.measure(server, () =>
      Promise.all([other, ...Array<HttpClient>(searches).fill(attacker)].map(searchAgain)),
    );
    findings.note(formatCounts([...searching, ...attacking.flat()].map(({ outcome }) => outcome)));
    const [attackerMs, otherMs] = [medianMs(attacking.flat()), medianMs(searching)];
    findings.note(`searches took ${attackerMs} ms, those of another address ${otherMs} ms (medians)`);
    // One search of the attacker and one of the other run at a time.
    findings.expect(otherMs <= attackerMs / 2, 'the searches of another address waited for those of the attacker');
    const { p50, p99, failures } = sandbox.measured?.neighbour?.attacked ?? { p50: 0, p99: 0, failures: 0 };
    findings.expect(p50 <= maxMedianMs, `half of the small reads took more than ${p50.toFixed(0)} ms`);
    findings.expect(p99 <= maxP99Ms, `small reads took ${p99.toFixed(0)} ms at the 99th percentile`);
    findings.expect(failures === 0, `${failures} small reads failed`);
  },
};

interface Search {
  ms: number;
  outcome: string;
}

/** Searches for `attackMs`, one search after the other. */
async function searchAgain(client: HttpClient): Promise<Search[]> {
  const done: Search[] = [];
  const end = performance.now() + attackMs;
  while (performance.now() < end) {
    const startedAt = performance.now();
    const reply = await client.send(search);
    done.push({ ms: performance.now() - startedAt, outcome: outcomeOf(reply) });
  }
  return done;
}

function medianMs(done: readonly Search[]): number {
  const sorted = done.map(({ ms }) => ms).sort((one, other) => one - other);
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? Number.NaN);
}

export const longReadAttacks: readonly Attack[] = [onPostgres];
