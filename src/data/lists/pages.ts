import { type SelectQueryBuilder, sql } from 'kysely';
import { invalidInput } from '../../errors.ts';
import type { Db } from '../database/database.ts';
import { dialectOf } from '../sql/sql-dialect.ts';
import { createVariableStatement, firstOrThrow } from '../sql/statement.ts';
import type { PostRow, PublicUser, RoomRow, Tables } from '../tables.ts';

/** A page whose rows are read and counted only if they are selected. */
export interface Page<Row> {
  data: () => Promise<Row[]>;
  pagination: Pagination;
}

export interface Pagination {
  page: number;
  limit: number;
  total: () => Promise<number>;
  pages: () => Promise<number>;
}

export type UserPage = Page<PublicUser>;
export type PostPage = Page<PostRow>;
export type RoomPage = Page<RoomRow>;

export interface Edge<Node> {
  cursor: string;
  node: Node;
}

export type PostEdge = Edge<PostRow>;
export type RoomEdge = Edge<RoomRow>;
export type RoomMemberEdge = Edge<PublicUser> & { joinedAt: number };

/** The position of a row in an order by (time, id), ascending or descending. */
export type Key = readonly [time: number, id: string];

export interface KeyRange {
  after?: Key | undefined;
  before?: Key | undefined;
  /** Whether to read from the end; the rows are in the same order in either case. */
  fromEnd: boolean;
  limit: number;
}

/** A page of a keyset (a Relay connection), read only if it is selected. */
export interface Connection<AnyEdge extends Edge<unknown>> {
  edges: () => Promise<AnyEdge[]>;
  nodes: () => Promise<AnyEdge['node'][]>;
  pageInfo: PageInfo;
}

export interface PageInfo {
  hasPreviousPage: () => Promise<boolean>;
  hasNextPage: () => Promise<boolean>;
  startCursor: () => Promise<string | null>;
  endCursor: () => Promise<string | null>;
}

export type PostConnection = Connection<PostEdge>;
export type RoomConnection = Connection<RoomEdge>;
export type RoomMemberConnection = Connection<RoomMemberEdge>;

export interface PageArguments {
  /** From 1. */
  page?: number | null | undefined;
  /** 1 to 100. */
  limit?: number | null | undefined;
}

export interface ConnectionArguments {
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}

const maxPageLength = 100;
const defaultPageLength = 20;

/** The source of a page's rows. */
interface PageSource<Row> {
  read: (range: { limit: number; offset: number }) => Promise<Row[]>;
  count: () => Promise<number>;
}

type PageTable = 'posts' | 'users';
type Rows<Table extends PageTable, Row> = SelectQueryBuilder<Tables, Table, Row>;

/**
 * A function that creates pages of an ordered query of a table. `build` may depend on values that are null, true or false.
 * `complete` adds values that depend on the number of rows that a page skips, which is undefined for a total.
 * @throws ClientError VALIDATION_ERROR if `page` or `limit` is out of range.
 */
export function createPages<Values extends object, Table extends PageTable, Row>(
  table: Table,
  select: (rows: Rows<Table, object>, values: Values, db: Db) => Rows<Table, Row>,
  complete = async (_db: Db, values: Values, _skipped: number | undefined) => values,
): (db: Db, values: Values, page: PageArguments) => Page<Row> {
  const build = (db: Db, values: Values) => {
    const rows = db.selectFrom<PageTable>(table).where(dialectOf(db).countsRows(table));
    return select(rows as unknown as Rows<Table, object>, values, db);
  };
  const selectRows = createVariableStatement((db, values: Values & { limit: number; offset: number }) =>
    build(db, values).limit(values.limit).offset(values.offset),
  );
  const countRows = createVariableStatement((db, values: Values) =>
    build(db, values)
      .clearSelect()
      .clearOrderBy()
      .select(({ fn }) => fn.countAll<number>().as('rows')),
  );
  return (db, values, page) =>
    createPage(page, {
      read: async (range) =>
        selectRows(
          db,
          { ...(await complete(db, values, range.offset)), ...range },
          { isLong: isLongPage(values, range) },
        ),
      count: async () =>
        firstOrThrow(await countRows(db, await complete(db, values, undefined), { isLong: true })).rows,
    });
}

/** The maximum number of rows that a page skips in a short read. */
export const maxSkippedShortly = 1_000;

/** Whether a page searches for a part of a text, or skips many rows. */
export function isLongPage(
  { name, title }: { name?: unknown; title?: unknown },
  { offset }: { offset: number },
): boolean {
  return name != null || title != null || offset > maxSkippedShortly;
}

/** A page without rows. @throws ClientError VALIDATION_ERROR if `page` or `limit` is out of range. */
export function createEmptyPage<Row>(page: PageArguments): Page<Row> {
  return createPage(page, { read: async () => [], count: async () => 0 });
}

/** Creates a page. @throws ClientError VALIDATION_ERROR if `page` or `limit` is out of range. */
export function createPage<Row>({ page, limit }: PageArguments, { read, count }: PageSource<Row>): Page<Row> {
  const at = page ?? 1;
  const length = limit ?? defaultPageLength;
  const problems = [
    ...(at < 1 ? [{ field: 'page', issue: 'out_of_range' as const }] : []),
    ...(isPageLength(length) ? [] : [{ field: 'limit', issue: 'out_of_range' as const }]),
  ];
  if (problems.length > 0) throw invalidInput(problems);
  const total = once(count);
  return {
    data: once(() => read({ limit: length, offset: (at - 1) * length })),
    pagination: { page: at, limit: length, total, pages: async () => Math.ceil((await total()) / length) },
  };
}

/** Creates a connection. @throws ClientError VALIDATION_ERROR if an argument is out of range or not a cursor. */
export function createConnection<AnyEdge extends Edge<unknown>>(
  read: (range: KeyRange) => Promise<AnyEdge[]>,
  { first, after, last, before }: ConnectionArguments,
): Connection<AnyEdge> {
  const range = { after: decodeKey(after), before: decodeKey(before) };
  const problems = [
    ...(first != null && !isPageLength(first) ? [{ field: 'first', issue: 'out_of_range' as const }] : []),
    ...(last != null && !isPageLength(last) ? [{ field: 'last', issue: 'out_of_range' as const }] : []),
    ...(after != null && !range.after ? [{ field: 'after', issue: 'invalid' as const }] : []),
    ...(before != null && !range.before ? [{ field: 'before', issue: 'invalid' as const }] : []),
  ];
  if (problems.length > 0) throw invalidInput(problems);
  const fromEnd = first == null && last != null;
  const edges = once(async () => {
    const found = await read({ ...range, fromEnd, limit: first ?? last ?? defaultPageLength });
    // If both are given, `last` applies to the result of `first` (Relay, 4.4).
    return last == null ? found : found.slice(-last);
  });
  const startCursor = async () => (await edges())[0]?.cursor ?? null;
  const endCursor = async () => (await edges()).at(-1)?.cursor ?? null;
  const isAny = async (bounds: Partial<KeyRange>) => (await read({ fromEnd: false, limit: 1, ...bounds })).length > 0;
  return {
    edges,
    nodes: async () => (await edges()).map(({ node }) => node),
    pageInfo: {
      startCursor,
      endCursor,
      // An empty page has no edge of its own; then its bounds `before` and `after` are used instead.
      hasPreviousPage: once(async () => isAny({ before: decodeKey(await startCursor()) ?? range.before })),
      hasNextPage: once(async () => isAny({ after: decodeKey(await endCursor()) ?? range.after })),
    },
  };
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

export function encodeKey([time, id]: Key): string {
  return Buffer.from(`${time}:${id}`).toString('base64url');
}

function decodeKey(cursor: string | null | undefined): Key | undefined {
  if (cursor == null) return undefined;
  const [, time, id] =
    /^(-?\d{1,16}):([0-9a-z]{1,40})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  return time === undefined || id === undefined ? undefined : [Number(time), id];
}

export function isPageLength(length: number): boolean {
  return length >= 1 && length <= maxPageLength;
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= read();
    return result;
  };
}
