/** The values in lists of at most this length. */
export function chunksOf<T>(values: readonly T[], length: number): T[][] {
  return Array.from({ length: Math.ceil(values.length / length) }, (_, index) =>
    values.slice(index * length, (index + 1) * length),
  );
}
