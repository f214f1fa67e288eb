import type { Model } from './model.ts';
import type { Node } from './node.ts';
import type { Scheduler } from './scheduler.ts';

/** A run, as its clients and writers see it. */
export interface RunContext {
  readonly scheduler: Scheduler;
  readonly model: Model;
  readonly users: readonly string[];
  /** The titles of posts that were refused. */
  readonly refused: Set<string>;
  /** The posts that were acknowledged since the database was last rewound, by id. */
  readonly acknowledged: Map<string, { userId: string; roomId: string }>;
  /** Whether the extensions are part of the run; some nodes may nevertheless be without them. */
  readonly hasExtensions: boolean;
  /** The faults and changes are over. */
  readonly areFaultsOver: boolean;
  /** Whether a node may be late, because its reads were late or have failed. */
  mayBeLate(node: string): boolean;
  /** Whether a change may fail because the database has failed in this run. */
  readonly canDatabaseFail: boolean;
  /** The time after which what has happened has arrived at a client that reads. */
  readonly arrivalMs: number;
  /** The time after which a viewer who has lost access to a room, or whose session was ended, receives nothing. */
  readonly accessMs: number;
  /** The number of events that clients have received. */
  delivered: number;
  /** A node that runs, and has the extensions if they are needed; undefined if there is none. */
  pickNode(needsExtensions?: boolean): Node | undefined;
  /** A change of the user begins, and a client of the user may connect again at that moment. */
  meetChange(userId: string): void;
  /** Records what happens, for the story of a defect. */
  note(text: string): void;
  /** Only the first defect of a run counts: the others may follow from it. */
  fail(defect: string): void;
}
