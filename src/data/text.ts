import { type RawBuilder, type SqlBool, sql } from 'kysely';

/** The longest name or title, in code points. */
const maxLineLength = 200;

/** Whether text can stand in the database at all: NUL and lone surrogates are refused everywhere. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Whether a column contains the text; A to Z match a to z. */
export function contains(column: 'name' | 'title', text: string): RawBuilder<SqlBool> {
  // Databases bound the length of a pattern, and read one with a NUL as ending there.
  if (!isStorable(text) || text.length > 2 * maxLineLength) return sql<SqlBool>`1 = 0`;
  const pattern = `%${lowerAscii(text).replaceAll(/[\\%_]/g, '\\$&')}%`;
  return sql<SqlBool>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
}

function lowerAscii(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
