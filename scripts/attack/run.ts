import { importArchive } from './archive.ts';
import { type Attack, Findings } from './attack.ts';
import { type Measured, Sandbox } from './sandbox.ts';
import { within } from './waiting.ts';

export interface Result {
  attack: Attack;
  findings: Findings;
  measured: Measured;
  seconds: number;
}

const maxSeconds = 60;
const maxRetainedMb = 64;
/** Far above the documented bound, so that a busy machine does not cause a fault. */
const maxBlockMs = 250;
const unmeasured: Measured = { growthMb: 0, retainedMb: undefined, blockMs: 0, neighbour: undefined, addresses: 1 };

let current: Sandbox | undefined;

/** Runs one attack. All its processes and files are removed before it returns. */
export async function runAttack(attack: Attack): Promise<Result> {
  if (attack.archive) importArchive(attack.archive);
  const startedAt = performance.now();
  const sandbox = new Sandbox();
  current = sandbox;
  const findings = new Findings();
  let measured = unmeasured;
  try {
    const attacking = attack.run(sandbox, findings);
    attacking.catch(() => {});
    await within(maxSeconds * 1_000, 'the attack', Promise.race([attacking, sandbox.died]));
  } catch (error) {
    findings.expect(false, error instanceof Error ? error.message : String(error));
  }
  try {
    measured = sandbox.measured ?? (await sandbox.measureAll());
    if (sandbox.measured) checkLimits(measured, findings);
  } finally {
    await sandbox.close();
    current = undefined;
  }
  return { attack, findings, measured, seconds: (performance.now() - startedAt) / 1_000 };
}

/** Ends the current attack. */
export async function closeCurrentAttack(): Promise<void> {
  await current?.close();
}

/** The limits that apply to every attack with a measurement. */
function checkLimits({ retainedMb = 0, blockMs, addresses }: Measured, findings: Findings): void {
  const allowedMb = maxRetainedMb * addresses;
  findings.expect(
    retainedMb <= allowedMb,
    `the server retained ${Math.round(retainedMb)} MB; the maximum is ${allowedMb} MB`,
  );
  const block = Number.isFinite(blockMs) ? `was blocked for ${Math.round(blockMs)} ms` : 'did not answer for 5 s';
  findings.expect(blockMs <= maxBlockMs, `the event loop ${block}`);
}
