/** Matches the narrow windows for which page.css shows tables as cards. */
export const phone = matchMedia('(max-width: 40rem)');
