import { type SelectQueryBuilder, sql } from 'kysely';
import type { Db } from '../database.ts';
import { createVariableStatement } from '../sql/statement.ts';
import type { Tables } from '../tables.ts';

/** The position of a row in an order by (time, id), ascending or descending. */
export type Key = readonly [time: number, id: string];

export interface KeyRange {
  after?: Key | undefined;
  before?: Key | undefined;
  /** Whether to read from the end; the rows are in the same order in either case. */
  fromEnd: boolean;
  limit: number;
}

/** A range of keys as the values of a statement. */
interface RangeValues {
  afterTime: number | undefined;
  afterId: string | undefined;
  beforeTime: number | undefined;
  beforeId: string | undefined;
  fromEnd: boolean;
  limit: number;
}

/**
 * A function that reads a range of the rows that `select` finds, in the order of `[time, id]`. It compiles a statement once
 * for each form of a range: to build it takes longer than to read twenty rows.
 */
export function createRangeReader<Values extends object, Table extends keyof Tables, Row>(
  [time, id]: readonly [time: string, id: string],
  select: (db: Db, values: Values) => SelectQueryBuilder<Tables, Table, Row>,
  { isDescending = false } = {},
): (db: Db, values: Values, range: KeyRange) => Promise<Row[]> {
  const key = sql`(${sql.ref(time)}, ${sql.ref(id)})`;
  const [isAfter, isBefore] = (isDescending ? ['<', '>'] : ['>', '<']).map((operator) => sql.raw(operator));
  const selectRange = createVariableStatement((db, values: Values & RangeValues) => {
    const { afterTime, afterId, beforeTime, beforeId, fromEnd, limit } = values;
    let query = select(db, values);
    if (afterId != null) query = query.where(sql<boolean>`${key} ${isAfter} (${afterTime}, ${afterId})`);
    if (beforeId != null) query = query.where(sql<boolean>`${key} ${isBefore} (${beforeTime}, ${beforeId})`);
    const order = fromEnd === isDescending ? 'asc' : 'desc';
    return query.orderBy(sql.ref(time), order).orderBy(sql.ref(id), order).limit(limit);
  });
  return async (db, values, { after, before, fromEnd, limit }) => {
    const [[afterTime, afterId], [beforeTime, beforeId]] = [after ?? [], before ?? []];
    const rows = await selectRange(db, { ...values, afterTime, afterId, beforeTime, beforeId, fromEnd, limit });
    return fromEnd ? rows.reverse() : rows;
  };
}
