import { type SelectQueryBuilder, sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { createVariableStatement } from '../sql/statement.ts';
import type { Tables } from '../tables.ts';
import { type Connection, type ConnectionArguments, createConnection, type Edge, type KeyRange } from './pages.ts';

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
 * A function that creates connections of the rows that `select` finds, in the order of `[time, id]`. It compiles a statement
 * once for each form of a range: to build it takes longer than to read twenty rows.
 */
export function createConnectionFinder<
  Values extends object,
  Table extends keyof Tables,
  Row,
  AnyEdge extends Edge<unknown>,
>(
  [time, id]: readonly [time: string, id: string],
  select: (db: Db, values: Values) => SelectQueryBuilder<Tables, Table, Row>,
  toEdge: (row: Row) => AnyEdge,
  { isDescending = false } = {},
): (db: Db, values: Values, args: ConnectionArguments) => Connection<AnyEdge> {
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
  const read = async (db: Db, values: Values, { after, before, fromEnd, limit }: KeyRange) => {
    const [[afterTime, afterId], [beforeTime, beforeId]] = [after ?? [], before ?? []];
    const rows = await selectRange(db, { ...values, afterTime, afterId, beforeTime, beforeId, fromEnd, limit });
    return (fromEnd ? rows.reverse() : rows).map(toEdge);
  };
  return (db, values, args) => createConnection((range) => read(db, values, range), args);
}
