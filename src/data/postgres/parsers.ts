import { type FieldDef, types } from 'pg';

/** What turns the text of a column into its value; undefined if the value is that text. */
export function parserOf({ dataTypeID }: Pick<FieldDef, 'dataTypeID'>): ((text: string) => unknown) | undefined {
  const { TEXT, INT4, INT8 } = types.builtins;
  if (dataTypeID === TEXT) return undefined;
  return dataTypeID === INT4 || dataTypeID === INT8 ? parseInteger : types.getTypeParser(dataTypeID, 'text');
}

/** Times and counts are below 2^53. `Number` takes four times as long for a time in milliseconds. */
function parseInteger(text: string): number {
  const isNegative = text.startsWith('-');
  let value = 0;
  for (let index = isNegative ? 1 : 0; index < text.length; index += 1) {
    value = value * 10 + text.charCodeAt(index) - 48;
  }
  return isNegative ? -value : value;
}
