import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Choices } from '../clients/choices.ts';
import { run } from '../server/postroom.ts';
import type { Case, Outcome, Step } from './case.ts';
import { absent, distort, faultyOf, wrong } from './faults.ts';
import { print } from './json.ts';
import type { Shape } from './shapes.ts';
import type { Target } from './target.ts';
import { mutate, oddValue } from './texts.ts';

const linesOfCase = 200;

/** Each fault of each record, many in one import. */
export function* importCases(shapes: readonly Shape[], shuffle: (lines: Step[]) => Step[]): Generator<Case> {
  const valid = shapes.map((shape) => ({ kind: 'line', text: print(shape.valid), validId: 'line' }) as const);
  const faulty = shapes.flatMap((shape) => [...faultyOf(shape, absent), ...faultyOf(shape, wrong)]);
  const lines = shuffle(faulty.map((json) => line(print(json))));
  for (let start = 0; start < lines.length; start += linesOfCase)
    yield importOf('import', [...valid, ...lines.slice(start, start + linesOfCase), ...valid]);
}

export function randomImportCase(shapes: readonly Shape[], choices: Choices): Case {
  const lines = Array.from({ length: 1 + choices.below(linesOfCase) }, () => {
    const shape = choices.oneOf(shapes);
    const text = shape ? print(distort(shape, choices)) : '';
    if (choices.chance(20)) return line(mutate(text, choices));
    return line(choices.chance(10) ? (JSON.stringify(oddValue(choices)) ?? '') : text);
  });
  return importOf('import random', lines);
}

const line = (text: string): Step => ({ kind: 'line', text });
const importOf = (name: string, steps: Step[]): Case => ({ transport: 'import', name, steps });

/** Each line is imported or refused, whatever the other lines are. */
export async function runImportCase({ snapshot }: Target, { steps }: Case, outcome: Outcome): Promise<void> {
  const url = snapshot.copy();
  // A line break within a step would move the numbers of the later lines.
  const lines = steps.map(({ text }) => text.replaceAll('\n', ' '));
  const { status, stdout, stderr } = await run(['import', '-'], { DATABASE_URL: url }, lines.join('\n'));
  rmSync(dirname(url.slice('sqlite:'.length)), { recursive: true, force: true });
  outcome.count(`import exited with ${status}`);
  const reports = stderr.split('\n').filter(Boolean);
  const unexpected = reports.filter((report) => !/^line \d+: /.test(report));
  if ((status !== 0 && status !== 2) || unexpected.length > 0) {
    const reason = unexpected.find((report) => /Error\b/.test(report)) ?? unexpected[0];
    return outcome.fault(`the import exited with ${status}: ${reason}`);
  }
  const counts = [...stdout.matchAll(/([\d,]+) (?:added|already present)|lines refused: ([\d,]+)/g)];
  const total = counts.reduce((sum, [, kept = '', refused = kept]) => sum + Number(refused.replaceAll(',', '')), 0);
  if (total !== lines.filter((text) => !/^\s*$/.test(text)).length)
    outcome.fault('the import did not count every line');
  const refused = new Set(reports.map((report) => Number(/\d+/.exec(report)?.[0])));
  if (steps.some(({ validId }, index) => validId && refused.has(index + 1))) outcome.fault('a valid line was refused');
}
