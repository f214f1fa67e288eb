import type { ArchiveName } from './archive.ts';
import type { Sandbox } from './sandbox.ts';

export interface Attack {
  /** The name that `--only` selects. */
  name: string;
  /** The behaviour that must hold, as a sentence. */
  promise: string;
  /** The archive that the attack needs. The import is slow, so it is not part of the attack's time. */
  archive?: ArchiveName;
  /** Attacks servers of the sandbox and adds its results to the findings. The sandbox cleans up. */
  run(sandbox: Sandbox, findings: Findings): Promise<void>;
}

/** The results of an attack. Its promise is broken when there is at least one fault. */
export class Findings {
  readonly faults: string[] = [];
  readonly notes: string[] = [];

  note(text: string): void {
    this.notes.push(text);
  }

  /** `fault` describes the behaviour that was observed instead. */
  expect(isTrue: boolean, fault: string): void {
    if (!isTrue) this.faults.push(fault);
  }
}
