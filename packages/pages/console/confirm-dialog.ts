import { DialogAnswers } from './dialog-answers.ts';
import { find } from './elements.ts';

interface Question {
  /** Names the object. */
  text: string;
  /** The text of the button that confirms. */
  verb: string;
  /** The text of a checkbox, which is absent if this is empty. */
  option?: string;
}

const answers = new DialogAnswers(find('confirm', HTMLDialogElement));
const box = find('confirm-box', HTMLInputElement);

export function cancelQuestion(): void {
  answers.cancel();
}

/** Whether the operator confirmed, and chose the option. Undefined if the operator cancels. */
export async function confirmAction({ text, verb, option = '' }: Question): Promise<{ isChosen: boolean } | undefined> {
  find('confirm-question', HTMLElement).textContent = text;
  find('confirm-verb', HTMLButtonElement).textContent = verb;
  find('confirm-option', HTMLElement).textContent = option;
  find('confirm-choice', HTMLElement).hidden = option === '';
  box.checked = false;
  return (await answers.ask()) ? { isChosen: box.checked } : undefined;
}
