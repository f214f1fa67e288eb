import { type Case, Outcome } from './case.ts';
import { runHttpCase } from './http.ts';
import { runImportCase } from './import.ts';
import { casesOf } from './order.ts';
import { shrink } from './shrink.ts';
import { type Launch, Snapshot, type Target } from './target.ts';
import { runSocketCase } from './websocket.ts';

export interface FuzzOptions {
  seed: number;
  launch: Launch;
  /** The maximum number of cases. */
  runs?: number;
  /** The maximum duration. */
  seconds?: number;
  /** Only cases whose name contains this text. */
  only?: string;
  /** Called when a fault is found, before its input is shortened. */
  onFault?: (fault: Pick<Finding, 'what' | 'cases' | 'seconds'>) => void;
  onFinding?: (finding: Finding) => void;
}

/** A fault, and the shortest input that causes it. */
export interface Finding {
  what: string;
  /** Undefined if no case alone causes it on a fresh server. */
  shortest: Case | undefined;
  /** The number of inputs that were tried. */
  attempts: number;
  /** The number of cases before it. */
  cases: number;
  /** When it was found, and when the shortest input was. */
  seconds: number;
  shortenedSeconds: number;
}

export interface FuzzResult {
  cases: number;
  seconds: number;
  counts: Map<string, number>;
  findings: Finding[];
  /** The resident memory of the server after each batch, in bytes. */
  memory: number[];
}

const batchSize = 64;
const atATime = 16;
/** A case that is repeated alone does not wait for others. */
const [timeoutMs, repeatTimeoutMs] = [20_000, 3_000];
const maxFaultyBatches = 30;

/** Sends cases in batches, and checks the server after each. */
export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { seed, only = '', runs = Number.POSITIVE_INFINITY, seconds = Number.POSITIVE_INFINITY } = options;
  using snapshot = await Snapshot.create(options.launch);
  const result: FuzzResult = { cases: 0, seconds: 0, counts: new Map(), findings: [], memory: [] };
  const startedAt = performance.now();
  const elapsed = () => (performance.now() - startedAt) / 1_000;
  const explained = new Set<string>();
  const record = async ({ what, suspects }: Found) => {
    if (explained.has(what)) return;
    const when = { cases: result.cases, seconds: elapsed() };
    options.onFault?.({ what, ...when });
    const { together, ...explanation } = await explain(snapshot, what, suspects);
    for (const other of [what, ...together]) explained.add(other);
    const finding = { what, ...explanation, ...when, shortenedSeconds: elapsed() };
    result.findings.push(finding);
    options.onFinding?.(finding);
  };
  let target = await snapshot.open();
  let faultyBatches = 0;
  const cases = casesOf(snapshot.data, seed, only);
  while (result.cases < runs && elapsed() < seconds && faultyBatches < maxFaultyBatches) {
    const batch = takeFrom(cases, Math.min(batchSize, runs - result.cases));
    if (batch.length === 0) break;
    const found = await runBatch(target, batch, result.counts);
    result.cases += batch.length;
    result.memory.push(target.residentBytes);
    if (found.length > 0) faultyBatches += 1;
    for (const one of found) await record(one);
    if (target.hasEnded) target = await snapshot.open();
  }
  for (const what of await target.stop()) await record({ what, suspects: [] });
  return { ...result, seconds: elapsed() };
}

function takeFrom<T>(iterator: Iterator<T>, count: number): T[] {
  const taken: T[] = [];
  while (taken.length < count) {
    const { done, value } = iterator.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
}

const runners = { http: runHttpCase, websocket: runSocketCase, import: runImportCase };

/** A fault, and the cases that may have caused it. */
interface Found {
  what: string;
  suspects: readonly Case[];
}

/** If the server has ended, the faults of the single cases are only consequences. */
async function runBatch(
  target: Target,
  batch: readonly Case[],
  counts: Map<string, number>,
  ms = timeoutMs,
): Promise<Found[]> {
  const found: Found[] = [];
  const waiting = batch.values();
  const worker = async () => {
    for (const one of waiting) {
      const outcome = new Outcome();
      await runners[one.transport](target, one, outcome, ms);
      for (const what of outcome.counted) counts.set(what, (counts.get(what) ?? 0) + 1);
      for (const what of outcome.faults) found.push({ what, suspects: [one] });
    }
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  // A case that was interrupted is more likely to be the cause.
  const suspects = [...new Set([...found.flatMap(({ suspects }) => suspects), ...batch])];
  const ofServer = (await target.check()).map((what) => ({ what, suspects }));
  return target.hasEnded ? ofServer : [...found, ...ofServer];
}

interface Explanation extends Pick<Finding, 'shortest' | 'attempts'> {
  /** All faults that inputs of this fault caused. */
  together: readonly string[];
}

/** Repeats the suspects one by one, on a server that is replaced when it has ended, and shortens the first that fails. */
async function explain(snapshot: Snapshot, what: string, suspects: readonly Case[]): Promise<Explanation> {
  let target: Target | undefined;
  const together: string[] = [];
  const fails = async (candidate: Case) => {
    target ??= await snapshot.open();
    const found = await runBatch(target, [candidate], new Map(), repeatTimeoutMs);
    if (target.hasEnded) target = undefined;
    const isFailed = found.some((one) => one.what === what);
    if (isFailed) together.push(...found.map((one) => one.what));
    return isFailed;
  };
  // A text that is valid by construction would not be so when it is shortened.
  const keepsTexts = what.startsWith('a valid');
  // A single suspect is certain to be the cause, but it may fail only now and then.
  const tried = suspects.length === 1 ? Array.from({ length: 10 }, () => suspects).flat() : suspects;
  try {
    for (const suspect of tried)
      if (await fails(suspect)) return { ...(await shrink(suspect, fails, keepsTexts)), together };
    return { shortest: undefined, attempts: tried.length, together };
  } finally {
    await target?.stop();
  }
}
