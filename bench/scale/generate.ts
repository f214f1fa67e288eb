import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { createGunzip } from 'node:zlib';
import { Client } from 'pg';
import { openDatabase } from '../../src/data/database/open-database.ts';
import { historyFile } from '../data/history.ts';

/** The sizes of a generated database. */
export interface Sizes {
  posts: number;
  rooms: number;
  users: number;
}

/** The room with a tenth of all posts, the account with up to 10,000 posts, and an ordinary pair. */
export const largeRoom = idOf('r', 0);
export const largeAccount = idOf('u', 0);
export const someRoom = idOf('r', 3);
export const someUser = idOf('u', 7);
const maxPostsOfAccount = 10_000;
/** The number of events that are past the retention. */
const agedEvents = 200_000;

const maxEvents = 1_000_000;
const sampleCount = 2_000;
const day = 86_400_000;

export function sizesOf(posts: number): Sizes {
  return { posts, rooms: Math.max(10, posts / 10_000), users: posts / 50 };
}

/** The ids of generated rows ascend with their number, like those of ulid. */
function idOf(prefix: 'u' | 'r' | 'p', number: number): string {
  return `${prefix}${String(number).padStart(26, '0')}`;
}

/** Fills the new database of a URL. The tables are created by Postroom; the indexes of posts are built at the end. */
export async function generate(url: string, sizes: Sizes): Promise<void> {
  await (await openDatabase(url)).close();
  const samples = await readSamples();
  if (url.startsWith('sqlite:')) generateSqlite(url.slice('sqlite:'.length), sizes, samples);
  else await generatePostgres(url, sizes, samples);
}

type Sample = [title: string, body: string];

/** Real posts, if there is chat history. */
async function readSamples(): Promise<Sample[]> {
  if (!existsSync(historyFile))
    return Array.from({ length: sampleCount }, (_, index) => [`post ${index}`, 'x'.repeat(90)]);
  const samples: Sample[] = [];
  for await (const line of createInterface({ input: createReadStream(historyFile).pipe(createGunzip()) })) {
    const record = JSON.parse(line);
    if (record.type === 'post') samples.push([record.title, record.body]);
    if (samples.length === sampleCount) break;
  }
  return samples;
}

function generateSqlite(path: string, sizes: Sizes, samples: readonly Sample[]): void {
  const database = new DatabaseSync(path);
  database.exec('pragma synchronous = off; pragma cache_size = -2000000; pragma secure_delete = off');
  const indexes = database
    .prepare(
      `select name, sql from sqlite_schema where tbl_name in ('posts', 'roomEvents') and sql like 'create index%'`,
    )
    .all();
  const statements = statementsFor(sizes, {
    unit: '(abs(random() % 1000000) / 1000000.0)',
    mark: '(abs(random() % 2147483646) + 1)',
    series: (count) =>
      `(with recursive series (n) as (select 0 union all select n + 1 from series where n < ${count - 1}) select n from series)`,
    pad: (number) => `printf('%026d', ${number})`,
  });
  database.exec('create temporary table samples (n integer primary key, title text, body text)');
  const insert = database.prepare('insert into samples values (?, ?, ?)');
  samples.forEach(([title, body], index) => void insert.run(index, title, body));
  database.exec('begin');
  for (const { name } of indexes) database.exec(`drop index "${name}"`);
  for (const statement of statements) database.exec(statement);
  for (const { sql } of indexes) database.exec(String(sql));
  database.exec('commit; pragma wal_checkpoint(truncate)');
  database.close();
}

async function generatePostgres(url: string, sizes: Sizes, samples: readonly Sample[]): Promise<void> {
  const client = new Client(url);
  await client.connect();
  const { rows: indexes } = await client.query(
    `select indexname as name, indexdef as sql from pg_indexes where schemaname = current_schema() and tablename in ('posts', 'roomEvents') and indexdef not like '%UNIQUE%'`,
  );
  const statements = statementsFor(sizes, {
    unit: 'random()',
    mark: '(floor(random() * 2147483646)::integer + 1)',
    series: (count) => `generate_series(0, ${count - 1}) as series (n)`,
    pad: (number) => `lpad((${number})::text, 26, '0')`,
  });
  await client.query(
    'set synchronous_commit = off; create temporary table samples (n integer primary key, title text, body text)',
  );
  await client.query('insert into samples select row_number() over () - 1, * from unnest($1::text[], $2::text[])', [
    samples.map(([title]) => title),
    samples.map(([, body]) => body),
  ]);
  await client.query('begin');
  for (const { name } of indexes) await client.query(`drop index "${name}"`);
  for (const statement of statements) await client.query(statement);
  for (const { sql } of indexes) await client.query(sql);
  await client.query('commit');
  await client.query('vacuum analyze');
  await client.end();
}

interface Dialect {
  /** A random number of at least 0 and below 1. */
  unit: string;
  mark: string;
  /** Rows with numbers `n` from 0. */
  series: (count: number) => string;
  pad: (number: string) => string;
}

/** Room 0 has a tenth of the posts and members; in the others, and for authors, few are busy and many are quiet. */
function statementsFor({ posts, rooms, users }: Sizes, { unit, mark, series, pad }: Dialect): string[] {
  const now = Date.now();
  const whole = (expression: string) => `cast(floor(${expression}) as integer)`;
  const room = `case when ${unit} < 0.1 then 0 else 1 + ${whole(`${unit} * ${unit} * ${rooms - 1}`)} end`;
  const share = Math.min(0.01, maxPostsOfAccount / posts);
  const author = `case when ${unit} < ${share} then 0 else 1 + ${whole(`${unit} * ${unit} * ${users - 1}`)} end`;
  const events = Math.min(posts, maxEvents);
  const aged = Math.min(agedEvents, events / 2);
  return [
    `insert into users ("id", "name", "role", "createdAt", "updatedAt", "version")
       select 'u' || ${pad('n')}, 'user ' || n, 'MEMBER', ${now - 5_000 * day} + n, ${now}, 1 from ${series(users)}`,
    `insert into rooms ("id", "name", "visibility", "ownerId", "head", "createdAt", "updatedAt", "version")
       select 'r' || ${pad('n')}, 'room ' || n, case when n % 10 = 9 then 'PRIVATE' else 'PUBLIC' end, 'u' || ${pad('n')}, 0, ${now - 5_000 * day} + n, ${now}, 1 from ${series(rooms)}`,
    `insert into "roomMembers" ("roomId", "userId", "joinedAt")
       select 'r' || ${pad(room)}, 'u' || ${pad(`n`)}, ${now - 4_000 * day} + n from ${series(users)}`,
    `insert into posts ("id", "roomId", "authorId", "title", "body", "publishedAt", "createdAt", "updatedAt", "version")
       select 'p' || ${pad('series.n')}, 'r' || ${pad(room)}, 'u' || ${pad(author)}, title, body, at, at, at, 1
       from (select n, cast(${now - 4_000 * day} + n * ${Math.floor((3_900 * day) / posts)}.0 as bigint) as at from ${series(posts)}) as series
       join samples on samples.n = series.n % ${sampleCount}`,
    `insert into "roomEvents" ("roomId", "seq", "type", "subjectId", "version", "actorId", "at", "mark", "previousMark")
       select "roomId", seq, 'PostCreated', "id", 1, "authorId", at, mark, coalesce(lag(mark) over (partition by "roomId" order by seq), 0)
       from (select "roomId", "id", "authorId", row_number() over (partition by "roomId" order by "id") as seq, ${mark} as mark,
         case when "id" < '${idOf('p', posts - events + aged)}' then ${now - 8 * day} else ${now - events} end + row_number() over (order by "id") as at
         from posts where "id" >= '${idOf('p', posts - events)}') as numbered`,
    `update rooms set "head" = coalesce((select max("seq") from "roomEvents" where "roomId" = rooms."id"), 0)`,
    `update rooms set "headMark" = coalesce((select "mark" from "roomEvents" where "roomId" = rooms."id" and "seq" = "head"), 0),
       "previousMark" = coalesce((select "previousMark" from "roomEvents" where "roomId" = rooms."id" and "seq" = "head"), 0),
       "headAt" = coalesce((select "at" from "roomEvents" where "roomId" = rooms."id" and "seq" = "head"), "createdAt")`,
  ];
}
