import { DialogAnswers } from './dialog-answers.ts';
import { find } from './elements.ts';
import { formatInput } from './format.ts';

interface Mute {
  /** The id or the exact name of a room. */
  room: string;
  /** In ISO 8601; null ends a mute. */
  until: string | null;
}

const answers = new DialogAnswers(find('mute', HTMLDialogElement));
const room = find('mute-room', HTMLInputElement);
const until = find('mute-until', HTMLInputElement);
const dayMs = 24 * 60 * 60_000;

export function cancelMute(): void {
  answers.cancel();
}

/** Asks in which room and until when to mute a user. Undefined if the operator cancels. */
export async function askMute(name: string, givenRoom = ''): Promise<Mute | undefined> {
  find('mute-title', HTMLElement).textContent = `Mute ${name} in a room`;
  room.value = givenRoom;
  until.value = formatInput(Date.now() + dayMs);
  if (!(await answers.ask())) return undefined;
  return { room: room.value.trim(), until: until.value === '' ? null : new Date(until.value).toISOString() };
}

// The button does not submit the form, because Enter in a field would press the first that does.
find('mute-cancel', HTMLButtonElement).addEventListener('click', cancelMute);
