import { type RawBuilder, type SqlBool, sql } from 'kysely';

/** Whether a column contains the text; A to Z match a to z. */
export function contains(column: 'name' | 'title', text: string): RawBuilder<SqlBool> {
  const pattern = `%${lowerAscii(text).replaceAll(/[\\%_]/g, '\\$&')}%`;
  return sql<SqlBool>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
}

function lowerAscii(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
