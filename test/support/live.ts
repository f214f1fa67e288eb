/** The number of the event behind which a cursor stands. */
export function seqOf(cursor: string): number {
  return Number(Buffer.from(cursor, 'base64url').toString('latin1').split('.')[1]);
}

/** The numbers behind `from` up to `to`: what a reader must have seen, each once, in this order. */
export function seqsBetween(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index + 1);
}
