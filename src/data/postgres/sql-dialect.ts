import { sql } from 'kysely';
import type { SqlDialect } from '../sql/sql-dialect.ts';

export const postgresSql: SqlDialect = {
  // Its statements run elsewhere, for a limited time.
  countsRows: () => sql`true`,
  countedBody: () => sql.ref<string | null>('posts.body'),
  place: 'ctid',
  isPlaceAmong: (place, places) => sql`${place} = any(array(${places}))`,
  elementsOf: (json) => sql`json_array_elements(cast(${json} as json))`,
  isListed: (id, json) => sql`${sql.ref(id)} = any(array(select json_array_elements_text(cast(${json} as json))))`,
  unindexed: sql.raw(''),
  seeksInLateralJoins: true,
  // It keeps the plans of prepared statements, and gathers statistics by itself only once a minute, or never.
  findStaleTables: sql`
    select relname as name from pg_class
    where oid in ('users'::regclass, 'rooms'::regclass, 'posts'::regclass)
      and pg_relation_size(oid) > 4 * relpages::bigint * current_setting('block_size')::bigint`,
};
