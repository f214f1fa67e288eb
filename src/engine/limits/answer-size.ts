import { OperationTypeNode } from 'graphql';
import { ClientError } from '../../errors.ts';

/** The most JSON bytes per counted character: a control character is `\u0000`, a whole number has 11 digits. */
const maxBytesPerCharacter = 12;
/** Allowance for `extensions`: a cost or a cursor. */
const maxExtensionsLength = 1_000;

/**
 * The length of an answer, counted during execution. An execution stops when its answer is longer than the limit, so
 * that time and memory are bounded by the limit and not by the selection. The count never exceeds the number of bytes
 * of the JSON.
 */
export class AnswerSize {
  readonly limit: number;
  /** The characters of strings, keys and punctuation so far; any other value counts as one character. */
  characters = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get isExceeded(): boolean {
    return this.characters > this.limit;
  }

  addLeaf(value: unknown): void {
    this.characters += typeof value === 'string' ? value.length + '""'.length : 1;
  }

  /** Whether an answer without errors is certainly within the limit, so that its JSON need not be measured. */
  get isSurelyShort(): boolean {
    return this.characters * maxBytesPerCharacter + maxExtensionsLength <= this.limit;
  }
}

/**
 * A mutation's changes are committed before its answer is created, so the error message must say that they were made.
 */
export function answerTooLong(limit: number, type: OperationTypeNode): ClientError {
  const outcome = type === OperationTypeNode.MUTATION ? ' The changes without an error were made.' : '';
  return new ClientError('COST_LIMIT_EXCEEDED', `The answer is longer than ${limit} bytes.${outcome}`);
}

/** The payload of the mutation field `name` made the answer too long. */
export function payloadTooLong(limit: number, name: string): ClientError {
  const outcome = `The change of "${name}" was made, as were those before it without an error; the fields after it did not run.`;
  return new ClientError('COST_LIMIT_EXCEEDED', `The answer is longer than ${limit} bytes. ${outcome}`);
}
