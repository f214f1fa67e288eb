import { yieldWhenDue } from '../common/event-loop.ts';

/** Answers of at least this many characters are serialised in steps; up to it, JSON.stringify takes less than a millisecond. */
export const longAnswer = 100_000;

const stepLength = 32_768;

/**
 * The JSON of a long answer, created in steps: the event loop runs other work between them. `length`: a lower bound of its
 * characters. They are written into one buffer, because C's allocator keeps the memory of many smaller ones.
 */
export async function toJsonInSteps(body: object, length: number): Promise<Buffer> {
  let json: Buffer = Buffer.alloc(0);
  let [end, lengthSoFar] = [0, 0];
  for (const text of textsOf(body)) {
    await yieldWhenDue();
    lengthSoFar += text.length;
    const needed = end + Buffer.byteLength(text);
    if (needed > json.length) {
      // The characters that follow are probably like those so far.
      const expected = (1.1 * needed * length) / lengthSoFar;
      const longer = Buffer.allocUnsafeSlow(Math.ceil(Math.max(expected, 2 * needed)));
      json.copy(longer, 0, 0, end);
      json = longer;
    }
    end += json.write(text, end);
  }
  return json.subarray(0, end);
}

/** The JSON in texts of at least `stepLength`, except the last. */
function* textsOf(body: object): Generator<string> {
  let text = '';
  for (const part of partsOf(body)) {
    text += part;
    if (text.length < stepLength) continue;
    yield text;
    text = '';
  }
  yield text;
}

/** Parts of the JSON. A part is an object without nested values, a leaf, or punctuation. */
function* partsOf(value: unknown): Generator<string> {
  if (Array.isArray(value)) yield* partsOfList(value);
  else if (isNested(value)) yield* partsOfObject(value);
  else yield JSON.stringify(value);
}

function* partsOfList(items: readonly unknown[]): Generator<string> {
  let before = '[';
  for (const item of items) {
    yield before;
    yield* partsOf(item);
    before = ',';
  }
  yield items.length === 0 ? '[]' : ']';
}

function* partsOfObject(object: object): Generator<string> {
  let before = '{';
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* partsOf(value);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** Whether it is an object that contains objects or lists. */
function isNested(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((inner) => typeof inner === 'object' && inner !== null);
}
