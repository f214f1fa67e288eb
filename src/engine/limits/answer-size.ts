import { OperationTypeNode } from 'graphql';
import { ClientError } from '../../errors.ts';

/** JSON has at most so many bytes for each character counted: a control character is `\u0000`, a whole number has 11 digits. */
const maxBytesPerCharacter = 12;
/** Beside `data`: a cost or a cursor. */
const maxExtensionsLength = 1_000;

/**
 * How long an answer becomes, counted while it is made: an execution stops when its answer is longer than allowed, so that
 * time and memory are bounded by the limit and not by what was asked for. It never counts more than the JSON has bytes.
 */
export class AnswerSize {
  readonly limit: number;
  /** Of strings, keys and punctuation so far; any other value is one. */
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

  /** Whether an answer without errors is short enough by the count alone. */
  get isSurelyShort(): boolean {
    return this.characters * maxBytesPerCharacter + maxExtensionsLength <= this.limit;
  }
}

/** A mutation's changes are committed before its answer is made: its error must not read as if nothing had happened. */
export function answerTooLong(limit: number, type: OperationTypeNode): ClientError {
  const outcome = type === OperationTypeNode.MUTATION ? ' The changes were made.' : '';
  return new ClientError('COST_LIMIT_EXCEEDED', `The answer is longer than ${limit} bytes.${outcome}`);
}

/** The mutation's field `name`, whose payload made the answer too long. */
export function payloadTooLong(limit: number, name: string): ClientError {
  const outcome = `The change of "${name}" was made, as were those before it; the fields after it did not run.`;
  return new ClientError('COST_LIMIT_EXCEEDED', `The answer is longer than ${limit} bytes. ${outcome}`);
}
