import { find } from './elements.ts';

const dialog = find('end', HTMLDialogElement);

/** Answers a question that is still open with no. */
export function cancelEnd(): void {
  dialog.close();
}

/** Asks whether to end a connection. False also if the user presses Escape. */
export function confirmEnd(question: string): Promise<boolean> {
  find('end-question', HTMLElement).textContent = question;
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'end'), { once: true });
  });
}
