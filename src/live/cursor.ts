/** A position in a room's log: behind event number `seq` of the history `epoch`. */
export interface Position {
  roomId: string;
  epoch: string;
  seq: number;
}

export function encodeCursor({ epoch, seq, roomId }: Position): string {
  return Buffer.from(`${epoch}.${seq}.${roomId}`).toString('base64url');
}

/** The position of a cursor, or undefined where the text was never given out. */
export function decodeCursor(cursor: string): Position | undefined {
  if (cursor.length > 200) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const [, epoch, seq, roomId] = /^([0-9a-f]{8})\.(0|[1-9]\d{0,14})\.([0-9a-z]+)$/.exec(text) ?? [];
  if (epoch === undefined || seq === undefined || roomId === undefined) return undefined;
  const position = { epoch, seq: Number(seq), roomId };
  return encodeCursor(position) === cursor ? position : undefined;
}
