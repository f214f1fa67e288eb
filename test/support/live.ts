/** The sequence number of the event at a cursor. */
export function seqOf(cursor: string): number {
  return Number(Buffer.from(cursor, 'base64url').toString('latin1').split('.')[1]);
}

/** The numbers after `from` up to `to`: a reader must receive each of them once, in this order. */
export function seqsBetween(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index + 1);
}
