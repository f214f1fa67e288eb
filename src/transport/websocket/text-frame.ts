const finalText = 0x81;

/** A text frame whose payload is `prefix`, then `shared`, the bytes that are the same for all subscribers. */
export interface TextFrame {
  prefix: Buffer;
  shared: Buffer;
}

export function lengthOf({ prefix, shared }: TextFrame): number {
  const length = prefix.length + shared.length;
  return headerLength(length) + length;
}

/** Copies frames to the start of `bytes`, and returns `bytes`. */
export function copyFrames(frames: readonly TextFrame[], bytes: Buffer): Buffer {
  let offset = 0;
  for (const frame of frames) {
    offset = writeHead(bytes, offset, frame);
    bytes.set(frame.shared, offset);
    offset += frame.shared.length;
  }
  return bytes;
}

/** The bytes of the frame before `shared`. */
export function copyUnshared(frame: TextFrame): Buffer {
  const bytes = Buffer.allocUnsafe(lengthOf(frame) - frame.shared.length);
  writeHead(bytes, 0, frame);
  return bytes;
}

function headerLength(length: number): number {
  return length < 126 ? 2 : length < 65_536 ? 4 : 10;
}

/** Writes the header of an unmasked text frame (RFC 6455, 5.2) and the prefix; returns the offset for `shared`. */
function writeHead(bytes: Buffer, start: number, { prefix, shared }: TextFrame): number {
  const length = prefix.length + shared.length;
  const offset = start + headerLength(length);
  bytes[start] = finalText;
  if (length < 126) bytes[start + 1] = length;
  else if (length < 65_536) {
    bytes[start + 1] = 126;
    bytes.writeUInt16BE(length, start + 2);
  } else {
    bytes[start + 1] = 127;
    bytes.writeBigUInt64BE(BigInt(length), start + 2);
  }
  bytes.set(prefix, offset);
  return offset + prefix.length;
}
