import { TracelessError } from '../../../common/stack-traces.ts';
import type { Answer } from '../../../engine/answer.ts';

/** Carries an answer through a library that only passes errors on. */
export class OperationRefused extends TracelessError {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super('The operation was refused.');
    this.answer = answer;
  }
}

/** The answer that the error or one of its causes carries. */
export function findRefusal(error: unknown): Answer | undefined {
  if (error instanceof OperationRefused) return error.answer;
  return error instanceof Error && error.cause !== undefined ? findRefusal(error.cause) : undefined;
}
