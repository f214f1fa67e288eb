/** The answer whose characters are counted. */
export interface CountedAnswer {
  characters: number;
}

/** The part of a planned field that a projection depends on. */
interface ProjectedField {
  responseName: string;
  /** Whether a string that is a property of the row is the field's value without any conversion. */
  isText: boolean;
  field: { name: string };
  completion: { isNonNull: boolean };
}

/**
 * Creates the answer's object for a row, with its texts and with undefined for all other fields. Returns undefined if a
 * text is not a string. The characters of the texts are added to those of `answer`.
 */
export type RowProjection = (row: unknown, answer: CountedAnswer) => Record<string, unknown> | undefined;

/**
 * Compiles `(row) => ({ id: row.id, … })` for this selection. V8 then knows the location of each property, which it
 * cannot know in code that all selections share. Without it, a list of users with their posts takes 1.3 to 2.2 times as long.
 * The only text of the request in this code is response names, and their syntax is that of GraphQL names.
 */
export function compileProjection(fields: readonly ProjectedField[]): RowProjection {
  const texts = fields.filter(({ isText }) => isText);
  const reads = texts.map(({ field, responseName }) => `${field.name}: _${responseName}`);
  const code = `
    const { ${reads.join(', ')} } = row;
    if (!(${texts.map(printCheck).join(' && ')})) return undefined;
    answer.characters += ${texts.map(printLength).join(' + ')};
    return { ${fields.map(printEntry).join(', ')} };`;
  return new Function('row', 'answer', code) as RowProjection;
}

function printCheck({ responseName, completion }: ProjectedField): string {
  return `(typeof _${responseName} === 'string'${completion.isNonNull ? '' : ` || _${responseName} === null`})`;
}

function printLength({ responseName, completion }: ProjectedField): string {
  return completion.isNonNull ? `_${responseName}.length + 2` : `(_${responseName}?.length ?? 0) + 2`;
}

function printEntry({ responseName, isText }: ProjectedField): string {
  // As a plain key, `__proto__` would set the prototype.
  return `["${responseName}"]: ${isText ? `_${responseName}` : undefined}`;
}
