import type { DatabaseSync } from 'node:sqlite';
import { parentPort } from 'node:worker_threads';

/* Threads import nothing else of the program, so that they start fast. */

/** The answer to a command. */
export type ThreadReply<Result> = { result: Result } | { error: { message: string; errcode: number | undefined } };

/** In a thread: runs the commands of its `Thread` one after the other, with a connection that is opened for the first one. */
export function runCommands<Command, Result>(
  open: () => DatabaseSync,
  run: (database: DatabaseSync, command: Command) => Result,
): void {
  let database: DatabaseSync | undefined;
  function answer(command: Command): ThreadReply<Result> {
    try {
      database ??= open();
      return { result: run(database, command) };
    } catch (error) {
      const { message, errcode } = error as Error & { errcode?: number };
      return { error: { message, errcode } };
    }
  }
  parentPort?.on('message', (command: Command | 'close') => {
    if (command !== 'close') return parentPort?.postMessage(answer(command));
    database?.close();
    parentPort?.close();
  });
}
