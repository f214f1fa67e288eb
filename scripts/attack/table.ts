import type { Result } from './run.ts';
import type { Measured } from './sandbox.ts';

/** In characters. */
const maxObservationLength = 180;

/** Formats the results as a Markdown table. */
export function formatTable(results: readonly Result[]): string {
  const head = [
    'attack',
    'outcome',
    'memory, MB',
    'longest block, ms',
    'neighbour p50/p99, ms',
    'seconds',
    'observations',
  ];
  const rows = results.map((result) => [
    result.attack.name,
    result.findings.faults.length === 0 ? 'held' : 'BROKEN',
    describeMemory(result.measured),
    Number.isFinite(result.measured.blockMs) ? result.measured.blockMs.toFixed(0) : 'no answer',
    describeNeighbour(result.measured),
    result.seconds.toFixed(0),
    describeObservations(result),
  ]);
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** Faults come before notes. */
export function describeObservations({ findings }: Result): string {
  const observations = [...findings.faults, ...findings.notes].join('; ') || 'as promised';
  const line = observations.replaceAll(/\s+/g, ' ').replaceAll('|', '/');
  return line.length > maxObservationLength ? `${line.slice(0, maxObservationLength)} …` : line;
}

function describeMemory({ growthMb, retainedMb }: Measured): string {
  const retained = retainedMb === undefined ? '' : `, ${Math.max(0, retainedMb).toFixed(0)} retained`;
  return `${growthMb.toFixed(0)}${retained}`;
}

function describeNeighbour({ neighbour }: Measured): string {
  if (!neighbour) return '';
  const { quiet, attacked } = neighbour;
  const failures = attacked.failures > 0 ? `, ${attacked.failures} failed` : '';
  return `${quiet.p50.toFixed(0)}/${quiet.p99.toFixed(0)} → ${attacked.p50.toFixed(0)}/${attacked.p99.toFixed(0)}${failures}`;
}
