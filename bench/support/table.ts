import { median, spread } from './statistics.ts';

export interface Table {
  title: string;
  /** Describes the figures. */
  about: string;
  rows: Record<string, string>[];
}

export interface TableWithTargets extends Table {
  targets: Target[];
}

export interface Target {
  name: string;
  /** One per round. */
  ratios: number[];
  atMost?: number;
  atLeast?: number;
}

export function formatTable({ title, about, rows }: Table): string {
  return `### ${title}\n\n${about}\n\n${formatRows(rows)}`;
}

export function formatTargets(targets: readonly Target[]): string {
  return formatRows(
    targets.map(({ name, ratios, atMost, atLeast }) => {
      const value = median(ratios);
      const isMet = value <= (atMost ?? value) && value >= (atLeast ?? value);
      const goal = atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`;
      return { target: name, goal, measured: spread(ratios), met: isMet ? 'yes' : 'no' };
    }),
  );
}

/** A Markdown table with aligned columns. */
function formatRows(rows: readonly Record<string, string>[]): string {
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => row[name] ?? ''))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const format = (cells: string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = lines;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [format(head), rule, ...body.map(format), ''].join('\n');
}
