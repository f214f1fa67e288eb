import type { ArchiveName } from './archive.ts';
import type { Arena } from './arena.ts';

export interface Attack {
  /** For `--only`. */
  name: string;
  /** What must hold, as a sentence. */
  promise: string;
  /** Which archive it needs: to import that takes long, and is not counted as the attack's time. */
  archive?: ArchiveName;
  /** Attacks servers of the arena, and adds what it saw to the findings. It need not clean up. */
  run(arena: Arena, findings: Findings): Promise<void>;
}

/** What an attack saw. Its promise is broken when there is any fault. */
export class Findings {
  readonly faults: string[] = [];
  readonly notes: string[] = [];

  note(text: string): void {
    this.notes.push(text);
  }

  /** `fault` says what was seen instead. */
  expect(isTrue: boolean, fault: string): void {
    if (!isTrue) this.faults.push(fault);
  }
}
