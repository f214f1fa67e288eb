import type { Case, Step } from './case.ts';
import { edit, pathsOf, print, toJson } from './json.ts';

type Fails = (candidate: Case) => Promise<boolean>;

const maxAttempts = 250;
const maxMs = 30_000;

/**
 * The shortest case found that still fails: without needless steps, fields, lines and characters. `keepsTexts`: only steps
 * are removed.
 */
export async function shrink(
  given: Case,
  fails: Fails,
  keepsTexts = false,
): Promise<{ shortest: Case; attempts: number }> {
  const startedAt = performance.now();
  let [attempts, shortest] = [0, given];
  const tryCase = async (candidate: Case) => {
    if (attempts >= maxAttempts || performance.now() - startedAt > maxMs) return false;
    attempts += 1;
    if (!(await fails(candidate))) return false;
    shortest = candidate;
    return true;
  };
  await reduce(given.steps, (steps) => tryCase({ ...given, steps }));
  for (let index = 0; index < shortest.steps.length && !keepsTexts; index += 1) {
    const step = shortest.steps[index];
    if (!step) continue;
    const tryText = async (text: string) => {
      // The server would wait for the rest of the header.
      if (step.kind === 'request' && !text.includes('\r\n\r\n')) return false;
      return tryCase({ ...given, steps: shortest.steps.with(index, { ...step, text }) });
    };
    const textNow = () => shortest.steps[index]?.text ?? '';
    await dropFields(step, textNow, tryText);
    const tryParts = (parts: readonly string[]) => tryText(parts.join(''));
    await reduce(textNow().split(/(?<=\r\n|[&; ])/), tryParts);
    await reduce([...textNow()], tryParts);
  }
  return { shortest, attempts };
}

/** Removes parts, at first many at once, as long as the rest fails. Of many parts, only groups are removed. */
async function reduce<T>(parts: readonly T[], fails: (parts: T[]) => Promise<boolean>): Promise<void> {
  let kept = [...parts];
  const minSize = kept.length > 500 ? Math.ceil(kept.length / 32) : 1;
  for (let size = Math.ceil(kept.length / 2); size >= minSize; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < kept.length; ) {
      const rest = kept.toSpliced(start, size);
      if (await fails(rest)) kept = rest;
      else start += size;
    }
  }
}

/** Removes fields and items of the JSON in a message, in a line or in the body of a request. */
async function dropFields(
  { kind }: Step,
  text: () => string,
  fails: (text: string) => Promise<boolean>,
): Promise<void> {
  for (let index = 1; ; ) {
    const bodyAt = kind === 'request' ? text().indexOf('\r\n\r\n') + 4 : 0;
    const json = parse(text().slice(bodyAt));
    const path = json && pathsOf(json)[index];
    if (!path) return;
    const [rest] = edit(json, path, () => []);
    if (!rest || !(await fails(text().slice(0, bodyAt) + print(rest)))) index += 1;
  }
}

function parse(text: string) {
  try {
    return toJson(JSON.parse(text));
  } catch {
    return undefined;
  }
}
