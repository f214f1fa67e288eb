/** Text around JSON that is a string, or the bytes of a long answer. */
export function surround(before: string, json: string | Buffer, after: string): string | Buffer {
  if (typeof json === 'string') return `${before}${json}${after}`;
  return Buffer.concat([Buffer.from(before), json, Buffer.from(after)]);
}
