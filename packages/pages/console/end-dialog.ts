import { find } from './elements.ts';

const dialog = find('end', HTMLDialogElement);
let onAnswer: ((isConfirmed: boolean) => void) | undefined;

/** Answers a question that is still open with no. */
export function cancelEnd(): void {
  dialog.close();
}

/** Asks whether to end a connection. False also if the user presses Escape. */
export function confirmEnd(question: string): Promise<boolean> {
  // The event of an earlier answer may come after this question, which it does not answer.
  takeAnswer();
  find('end-question', HTMLElement).textContent = question;
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    onAnswer = resolve;
  });
}

function takeAnswer(): void {
  if (dialog.open) return;
  onAnswer?.(dialog.returnValue === 'end');
  onAnswer = undefined;
}

dialog.addEventListener('close', takeAnswer);
