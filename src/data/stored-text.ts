import { type RawBuilder, type SqlBool, sql } from 'kysely';

/** The longest name or title, in code points. */
const maxLineLength = 200;

/** Whether the database can store the text: NUL and lone surrogates are refused everywhere. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Whether a column contains the text, without regard to the case of A to Z. */
export function contains(column: 'name' | 'title', text: string): RawBuilder<SqlBool> {
  // Databases limit the length of a pattern, and a pattern ends at its first NUL.
  if (!isStorable(text) || text.length > 2 * maxLineLength) return sql<SqlBool>`1 = 0`;
  const pattern = `%${lowerAscii(text).replaceAll(/[\\%_]/g, '\\$&')}%`;
  return sql<SqlBool>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
}

function lowerAscii(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
