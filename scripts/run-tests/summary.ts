import type { FileReport } from './reporter.ts';

/** A file that ran, and its report when it ran again, alone, because it had failed. */
export interface RanFile {
  first: FileReport;
  again?: FileReport;
}

/** Whether the file failed also when it ran alone. */
export function hasFailed({ first, again }: RanFile): boolean {
  return (again ?? first).failures.length > 0;
}

/** Whether the file failed, but not when it ran alone. */
function isUnstable(file: RanFile): boolean {
  return file.first.failures.length > 0 && !hasFailed(file);
}

/** One line for each failure, then the numbers of tests. Tests that failed only beside others are counted as unstable. */
export function summarize(files: readonly RanFile[]): string[] {
  const failed = files.filter(hasFailed).flatMap(({ first, again = first }) => list('failed', again));
  const unstable = files.filter(isUnstable).flatMap(({ first }) => list('unstable', first));
  const last = files.map(({ first, again }) => again ?? first);
  const sum = (key: 'passed' | 'skipped') => last.reduce((total, report) => total + report[key], 0);
  const counts = `${sum('passed')} passed, ${failed.length} failed, ${sum('skipped')} skipped`;
  return [...failed, ...unstable, `${counts}, ${unstable.length} unstable`];
}

function list(outcome: string, { file, failures }: FileReport): string[] {
  return failures.map((failure) => `${outcome}: ${file} > ${failure}`);
}
