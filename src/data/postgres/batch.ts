import type { QueryResult } from 'kysely';
import { type Connection, type FieldDef, Query, types } from 'pg';
import { findRowReader, type RowReader } from '../sql/row-reader.ts';

const maxNames = 500;
const plannedEachTime = / like | in \(values /;

/** A statement that waits for its result. */
export interface Statement {
  sql: string;
  parameters: readonly unknown[];
  resolve: (result: QueryResult<never>) => void;
  reject: (error: unknown) => void;
}

/** The names under which statements are prepared, so that each is parsed once per connection. */
export class StatementNames {
  readonly #names = new Map<string, string>();
  /** Increases when a prepared statement no longer fits its tables: connections that were opened earlier are replaced. */
  generation = 0;

  /**
   * Undefined for a statement that is parsed and planned each time: a connection never forgets a prepared statement, so
   * their number is limited. A search needs a plan for its own text, because that for a rare text differs from that for a
   * common one. A join with a list of values needs a plan for the present size of the table: an import begins with an
   * empty one, and would continue to read all of it.
   */
  nameOf(sql: string): string | undefined {
    const known = this.#names.get(sql);
    if (known !== undefined) return known;
    if (this.#names.size >= maxNames || plannedEachTime.test(sql)) return undefined;
    const name = `s${this.#names.size}`;
    this.#names.set(sql, name);
    return name;
  }
}

export interface BatchOptions {
  /** The prepared statements of the connection, by name: how the rows of each are read; undefined until the server has prepared it. */
  prepared: Map<string, RowReader | undefined>;
  names: StatementNames;
  /** Called when a number of statements have been answered, before their promises are settled. */
  onAnswer: (count: number) => void;
  /** Returns the error in the terms of `Database`. */
  translate: (error: unknown) => unknown;
}

/** A statement of a batch whose answer has not arrived. */
interface Sent {
  statement: Statement;
  name: string | undefined;
  /** Undefined until the server has described the rows. */
  reader: RowReader | undefined;
}

/**
 * The command tag of a statement that changes rows, with their number (CommandComplete in
 * https://www.postgresql.org/docs/current/protocol-message-formats.html).
 */
const changeTag = /^(?:INSERT \d+|UPDATE|DELETE) (\d+)$/;

/**
 * Statements that are sent together. After one fails, the server skips the later ones, and they reject with its error.
 * For pg it is one query. A prepared statement is described once per connection: its rows never change their columns.
 */
export class Batch extends Query {
  readonly #sent: Sent[];
  readonly #options: BatchOptions;
  /** The number of statements that have been answered: the index of the next one. */
  #answered = 0;
  #rows: unknown[] = [];

  constructor(statements: readonly Statement[], options: BatchOptions) {
    super('', [], () => {});
    this.#options = options;
    this.#sent = statements.map((statement) => {
      const name = options.names.nameOf(statement.sql);
      return { statement, name, reader: name === undefined ? undefined : options.prepared.get(name) };
    });
  }

  get statements(): Statement[] {
    return this.#sent.map(({ statement }) => statement);
  }

  override submit = (connection: Connection): void => {
    for (const { statement, name = '', reader } of this.#sent) {
      if (!reader) this.#parse(connection, name, statement.sql);
      connection.bind({ statement: name, values: statement.parameters.map(toText) }, true);
      if (!reader) connection.describe({ type: 'P', name: '' }, true);
      connection.execute(null, true);
    }
    connection.sync();
  };

  #parse(connection: Connection, name: string, text: string): void {
    const { prepared } = this.#options;
    // An earlier attempt may have failed after the name was taken. A name that was not used before is never closed: if it
    // is in use, this connection shares its session with others, through a connection pooler.
    if (prepared.has(name)) connection.close({ type: 'S', name }, true);
    if (name !== '') prepared.set(name, undefined);
    connection.parse({ name, text, types: [] }, true);
  }

  handleRowDescription({ fields }: { fields: FieldDef[] }): void {
    const sent = this.#sent[this.#answered];
    if (sent) sent.reader = findRowReader(fields, parserOf);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const row = this.#sent[this.#answered]?.reader?.(fields);
    if (row) this.#rows.push(row);
  }

  /** `text`: the command tag. */
  handleCommandComplete({ text }: { text: string }): void {
    const sent = this.#sent[this.#answered];
    if (!sent) return;
    const { statement, name, reader = noRow } = sent;
    if (name !== undefined) this.#options.prepared.set(name, reader);
    const rows = this.#rows as never[];
    this.#answered += 1;
    this.#rows = [];
    this.#options.onAnswer(1);
    const [, changed] = changeTag.exec(text) ?? [];
    statement.resolve(changed === undefined ? { rows } : { rows, numAffectedRows: BigInt(changed) });
  }

  /** Called at most once, also if the connection is lost. */
  handleError(error: unknown): void {
    const failed = this.#sent.slice(this.#answered);
    this.#answered = this.#sent.length;
    this.#options.onAnswer(failed.length);
    const translated = this.#options.translate(error);
    for (const { statement } of failed) statement.reject(translated);
  }

  handleReadyForQuery(): void {}
}

/**
 * PostgreSQL refuses NUL in a text. New text with NUL is refused before (`isStorable`), so only an id from a client can
 * have one: it must find nothing, as does this noncharacter.
 */
function toText(value: unknown): string | null {
  if (value == null) return null;
  const text = String(value);
  return text.includes('\0') ? text.replaceAll('\0', '\uffff') : text;
}

/** What turns the text of a column into its value; undefined if the value is that text. */
function parserOf({ dataTypeID }: Pick<FieldDef, 'dataTypeID'>): ((text: string) => unknown) | undefined {
  const { TEXT, INT4, INT8 } = types.builtins;
  if (dataTypeID === TEXT) return undefined;
  return dataTypeID === INT4 || dataTypeID === INT8 ? parseInteger : types.getTypeParser(dataTypeID, 'text');
}

/** Times and counts are below 2^53. `Number` takes four times as long for a time in milliseconds. */
function parseInteger(text: string): number {
  const isNegative = text.startsWith('-');
  let value = 0;
  for (let index = isNegative ? 1 : 0; index < text.length; index += 1) {
    value = value * 10 + text.charCodeAt(index) - 48;
  }
  return isNegative ? -value : value;
}

const noRow = findRowReader([]);
