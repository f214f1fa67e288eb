import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { toComposed } from '../../common/names.ts';

/** The longest name or title, in code points. */
const maxLineLength = 200;

/** Whether the database can store the text: NUL and lone surrogates are refused everywhere. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The pattern of a text for `matches`; false if no stored text contains it; null for no text. */
export function toPattern(text: string | null | undefined): string | false | null {
  if (text == null) return null;
  // Databases limit the length of a pattern, and a pattern ends at its first NUL.
  if (!isStorable(text) || text.length > 2 * maxLineLength) return false;
  const lower = text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return `%${lower.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

/** The pattern of a part of a name, which is stored composed. */
export function toNamePattern(name: string | null | undefined): string | false | null {
  return toPattern(name == null ? null : toComposed(name));
}

/** Whether a column contains the text of a pattern, without regard to the case of A to Z. */
export function matches(column: 'name' | 'title', pattern: string | false): RawBuilder<SqlBool> {
  if (pattern === false) return sql<SqlBool>`1 = 0`;
  return sql<SqlBool>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
}
