import { expect } from 'vitest';
import type { Postroom } from './postroom.ts';

/** The SQL statements that a server with `LOG_LEVEL=debug` executes during `work`, except those of timers. */
export async function statementsDuring(postroom: Postroom, work: () => Promise<unknown>): Promise<string[]> {
  const { log } = postroom;
  const before = log.length;
  await work();
  // The log is written after the answer is sent. The statement of a second operation marks the end of the first.
  await postroom.send('{ roomByName(name: "end of the statements") { id } }');
  await expect.poll(() => log.slice(before).some(isMark)).toBe(true);
  const all = log.slice(before);
  return all
    .slice(0, all.findIndex(isMark))
    .filter(({ msg }) => msg === 'statement')
    .map(({ sql }) => String(sql))
    .filter((sql) => !isBackground(sql));
}

/** Timers look for deletions to continue, and compare the heads of rooms with the feeds; a checkpoint reads the length of the log. */
function isBackground(sql: string): boolean {
  return /^pragma wal_checkpoint|left join "rooms"|^select "id" from "(rooms|users)" where "(deletedAt|erasing)" is not null limit/.test(
    sql,
  );
}

function isMark({ sql }: Record<string, unknown>): boolean {
  return typeof sql === 'string' && / from "rooms" where .*"name" = /.test(sql);
}
