import type { Answer } from '../../engine/answer.ts';
import { TracelessError } from '../../errors.ts';

/** Carries an answer through a library that only passes errors on. */
export class OperationRefused extends TracelessError {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super('The operation was refused.');
    this.answer = answer;
  }
}

/** The answer in an error or behind it. */
export function findRefusal(error: unknown): Answer | undefined {
  if (error instanceof OperationRefused) return error.answer;
  return error instanceof Error && error.cause !== undefined ? findRefusal(error.cause) : undefined;
}
