const lengths = [100, 10, 1];

/** A long list in parts of few lengths: each statement is prepared once, and stays within what it may have of parameters. */
export function inParts<T>(values: readonly T[]): T[][] {
  const parts: T[][] = [];
  let from = 0;
  for (const length of lengths) {
    for (; from + length <= values.length; from += length) parts.push(values.slice(from, from + length));
  }
  return parts;
}
