/** Waits for the answers to the questions of a dialog. */
export class DialogAnswers {
  readonly #dialog: HTMLDialogElement;
  #onAnswer: ((isConfirmed: boolean) => void) | undefined;

  constructor(dialog: HTMLDialogElement) {
    this.#dialog = dialog;
    dialog.addEventListener('close', () => this.#take());
  }

  /** Answers a question that is still open with no. */
  cancel(): void {
    this.#dialog.close();
  }

  /** Opens the dialog. False if the user cancels, or presses Escape. */
  ask(): Promise<boolean> {
    // The event of an earlier answer may come after this question, which it does not answer.
    this.#take();
    this.#dialog.returnValue = '';
    this.#dialog.showModal();
    return new Promise((resolve) => {
      this.#onAnswer = resolve;
    });
  }

  #take(): void {
    if (this.#dialog.open) return;
    this.#onAnswer?.(this.#dialog.returnValue === 'confirm');
    this.#onAnswer = undefined;
  }
}
