import type { CompiledQuery, QueryResult } from 'kysely';
import { nextTurnWhenDue } from '../../../event-loop.ts';
import type { ReadContext } from '../../database.ts';
import type { StatementRunner } from '../../sql/query-builder.ts';
import type { DatabaseTimings } from '../../timings.ts';
import type { SqliteConnection } from '../connection.ts';
import type { LongReads } from './long-reads.ts';
import type { ReadCommand } from './worker.ts';

/** The work, in rows, that a statement may do on the event loop: about a millisecond. */
const maxRows = 1_000;

interface CallerReadsParts {
  connection: SqliteConnection;
  longReads: LongReads;
  timings: DatabaseTimings;
}

/** The reads of one caller: short reads on the event loop, and long reads in a thread. */
export class CallerReads implements StatementRunner {
  readonly #parts: CallerReadsParts;
  readonly #context: ReadContext;

  constructor(parts: CallerReadsParts, context: ReadContext) {
    this.#parts = parts;
    this.#context = context;
  }

  /**
   * It yields to the event loop right before it runs, so that the time of all earlier statements of the turn is counted.
   * A statement that does too much work is stopped, and runs again in a thread.
   */
  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const turn = nextTurnWhenDue();
    if (turn) await turn;
    const command = { sql, parameters } as ReadCommand;
    const { connection, longReads, timings } = this.#parts;
    const start = performance.now();
    const short = connection.executeWithin(maxRows, command);
    timings.read.observeSince(start);
    if (short) return short as QueryResult<Row>;
    const long = longReads.run(command, this.#context);
    return (await long.finally(() => timings.long_read.observeSince(start))) as QueryResult<Row>;
  }
}
