import { nextTurnWhenDue } from '../../../common/event-loop.ts';
import type { ReadContext } from '../../database/database.ts';
import type { DatabaseTimings } from '../../database/timings.ts';
import type { StatementRunner } from '../../sql/query-builder.ts';
import type { SqliteConnection } from '../connection.ts';
import type { LongReads } from './long-reads.ts';
import type { ReadCommand } from './worker.ts';

/** The work, in rows, that a statement may do on the event loop: about a millisecond. */
const maxRows = 1_000;

/**
 * The reads of one caller: short reads on the event loop, which yield to it as those of SqliteConnection, and long reads in a
 * thread. A statement that does too much work is stopped, and runs again in a thread.
 */
export function createReads(
  connection: SqliteConnection,
  longReads: LongReads,
  timings: DatabaseTimings,
): (context: ReadContext) => StatementRunner {
  return (context) => ({
    async executeQuery({ sql, parameters }) {
      const turn = nextTurnWhenDue(context.caller);
      if (turn) await turn;
      const command = { sql, parameters } as ReadCommand;
      const start = performance.now();
      const short = connection.executeWithin(maxRows, command);
      timings.read.observeSince(start);
      const result =
        short ?? (await longReads.run(command, context).finally(() => timings.long_read.observeSince(start)));
      return result as never;
    },
  });
}
