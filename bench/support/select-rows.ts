/** The rows with these names, or all rows if no name is given. @throws Error if there is no row with a name. */
export function selectRows<Row>(rows: Record<string, Row>, names: readonly string[]): Row[] {
  const unknown = names.filter((name) => !Object.hasOwn(rows, name));
  if (unknown.length > 0) {
    throw new Error(`There is no row ${unknown.join(', ')}. The rows are ${Object.keys(rows).join(', ')}.`);
  }
  const selected = Object.entries(rows).filter(([name]) => names.length === 0 || names.includes(name));
  return selected.map(([, row]) => row);
}
