/** A row of the bench, as it is printed. */
export interface Table {
  title: string;
  /** What the figures are. */
  about: string;
  rows: Record<string, string>[];
}

/** As Markdown, its columns in line. */
export function formatTable({ title, about, rows }: Table): string {
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => row[name] ?? ''))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const format = (cells: string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = lines;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [`### ${title}`, '', about, '', format(head), rule, ...body.map(format), ''].join('\n');
}
