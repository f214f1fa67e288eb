import type { Sample } from './history.ts';

const key = 'postroom:console:history';
/** The quota of a tab is 5 MB. Five minutes of a node are about 30 kB. */
const maxLength = 1_000_000;

/** The samples that the page had in this browser tab before it was reloaded. */
export function readStoredHistory(): Sample[] {
  return JSON.parse(sessionStorage.getItem(key) ?? '[]');
}

/** Stores the samples for the page that is loaded next in this tab, or nothing if they are too long or absent. */
export function storeHistory(samples: readonly Sample[]): void {
  const text = JSON.stringify(samples);
  if (samples.length > 0 && text.length <= maxLength) sessionStorage.setItem(key, text);
  else sessionStorage.removeItem(key);
}
