import { copyArchive } from '../archive.ts';
import type { Attack } from '../attack.ts';
import { formatCounts, outcomeOf } from '../counts.ts';
import type { Reply } from '../http-client.ts';

/* One anonymous address queries a database of 100,000 posts within its rate. */

/** The default of LIMIT_ALIASES. */
const aliases = 30;
const requests = 40;
const atOnce = 4;
const attackMs = 4_000;

interface Reading {
  name: string;
  /** Completes the promise "A request for … does not block other requests". */
  what: string;
  /** Returns the document of the request with this number. */
  document: (request: number) => string;
}

function aliased(field: (alias: number) => string, count = aliases): string {
  return `{ ${Array.from({ length: count }, (_, alias) => `a${alias}: ${field(alias)}`).join(' ')} }`;
}

const readings: readonly Reading[] = [
  {
    name: 'totals',
    what: 'thirty totals',
    document: (request) =>
      aliased((alias) => `posts(page: ${1 + request * aliases + alias}, limit: 1) { pagination { total } }`),
  },
  {
    name: 'page-counts',
    what: 'thirty counts of pages',
    document: () => aliased((alias) => `posts(page: ${1 + alias}, limit: 1) { pagination { pages } }`),
  },
  {
    name: 'deep-pages',
    what: 'thirty deep pages',
    document: (request) =>
      aliased((alias) => `posts(page: ${90_000 + request * aliases + alias}, limit: 1) { data { id } }`),
  },
  {
    name: 'pages-past-the-end',
    what: 'thirty pages past the end',
    document: () => aliased((alias) => `posts(page: ${1_000_000 + alias}, limit: 100) { data { id } }`, 20),
  },
  {
    name: 'name-searches',
    what: 'sixteen searches by name',
    document: () => aliased((alias) => `users(filter: { name: "nobody ${alias}" }, limit: 1) { data { id } }`, 16),
  },
  {
    name: 'title-searches',
    what: 'searches by title up to LIMIT_COST',
    document: (request) => `{ posts(filter: { title: "nothing ${request}" }, limit: 1) { data { id } } }`,
  },
  {
    name: 'counts-by-author',
    what: 'counts with filters that match nearly everything',
    document: () =>
      aliased(
        (alias) =>
          `posts(filter: { publishedAfter: "2005-01-01T00:0${alias % 10}:00Z" }, limit: 1) { pagination { total } }`,
      ),
  },
  {
    name: 'late-publications',
    what: 'pages of filters by time',
    document: () =>
      aliased(
        (alias) =>
          `posts(page: ${60_000 + alias}, filter: { publishedAfter: "2005-01-01T00:00:00Z" }, limit: 1) { data { id } }`,
      ),
  },
  {
    name: 'nested-posts',
    what: 'posts of the authors of posts up to LIMIT_COST',
    document: (request) =>
      `{ posts(page: ${1 + request}, limit: 100) { data { author { posts(last: 46) { id title } } } } }`,
  },
  {
    name: 'page-infos',
    what: 'thirty connections with pageInfo',
    document: () =>
      `{ roomByName(name: "archive") { ${Array.from({ length: aliases }, (_, alias) => `a${alias}: posts(first: 100) { pageInfo { hasPreviousPage hasNextPage startCursor endCursor } }`).join(' ')} } }`,
  },
  {
    name: 'room-positions',
    what: 'thirty lists of rooms with their cursors',
    document: () => aliased(() => 'rooms(limit: 100) { data { cursor } }'),
  },
  {
    name: 'introspection',
    what: 'thirty introspections of the whole schema',
    document: () =>
      aliased(() => '__schema { types { name fields { name args { name type { name } } type { name } } } }'),
  },
];

/** Sends requests within the rate, with `atOnce` requests in flight. */
function readWithinRate({ name, what, document }: Reading): Attack {
  return {
    name: `free-${name}`,
    archive: 'posts',
    promise: `A request for ${what} does not block other requests, or is refused for its cost.`,
    async run(sandbox, findings) {
      const folder = sandbox.newFolder();
      copyArchive('posts', folder);
      const server = await sandbox.start({ folder });
      const client = sandbox.openClient(server, '127.0.0.9');
      const replies: Reply[] = [];
      await sandbox.measure(server, async () => {
        const end = performance.now() + attackMs;
        const work = async (first: number) => {
          for (let request = first; request < requests && performance.now() < end; request += atOnce) {
            replies.push(await client.send(document(request)));
          }
        };
        await Promise.all(Array.from({ length: atOnce }, (_, first) => work(first)));
      });
      findings.note(formatCounts(replies.map(outcomeOf)));
    },
  };
}

export const freeReadAttacks: readonly Attack[] = readings.map(readWithinRate);
