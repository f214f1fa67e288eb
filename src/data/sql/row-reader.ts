/** Creates the object of a row from the values of its columns. */
export type RowReader = (values: readonly unknown[]) => Record<string, unknown>;

type Parser = ((text: string) => unknown) | undefined;

/** By the names and types of the columns. Their number is limited, because all statements are the program's own. */
const readers = new Map<string, RowReader>();

/** The reader for rows with these columns. `parserOf` finds what parses the values of a column that arrive as texts. */
export function findRowReader<Column extends { name: string; dataTypeID?: number }>(
  columns: readonly Column[],
  parserOf: (column: Column) => Parser = () => undefined,
): RowReader {
  const key = columns.map(({ name, dataTypeID = '' }) => `${name} ${dataTypeID}`).join();
  const reader = readers.get(key) ?? compile(columns, columns.map(parserOf));
  readers.set(key, reader);
  return reader;
}

/**
 * Compiles `(values) => ({ id: values[0], … })`, so that V8 knows the location of each property. A loop over the columns
 * takes ten times as long.
 */
function compile(columns: readonly { name: string }[], parsers: readonly Parser[]): RowReader {
  const entries = columns.map(({ name }, index) => `${JSON.stringify(name)}: ${printValue(index, parsers[index])}`);
  return new Function('parsers', `return (values) => ({ ${entries.join(', ')} });`)(parsers) as RowReader;
}

function printValue(index: number, parser: Parser): string {
  const value = `values[${index}]`;
  return parser ? `${value} === null ? null : parsers[${index}](${value})` : value;
}
