import type { User } from '@postroom/client';

export type Session = { token: string; user: User };

const sessionKey = 'postroom:session';
const reasonKey = 'postroom:reason';
export const draftPrefix = 'postroom:draft:';

/** The tabs of a browser share the session. */
export const readSession = (): Session | null => JSON.parse(localStorage.getItem(sessionKey) ?? 'null');
export const storeSession = (session: Session) => localStorage.setItem(sessionKey, JSON.stringify(session));
/** Why the last session has ended. */
export const readEndReason = () => sessionStorage.getItem(reasonKey) ?? '';

/** Loads the page again, so that nothing of the session outlives it. */
export function endSession(reason = ''): void {
  sessionStorage.setItem(reasonKey, reason);
  localStorage.removeItem(sessionKey);
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(draftPrefix)) sessionStorage.removeItem(key);
  location.reload();
}

/** Another tab may sign out, or sign in as somebody else. */
export function followOtherTabs({ user }: Session): void {
  addEventListener('storage', ({ key }) => {
    if (key === sessionKey && readSession()?.user.id !== user.id) location.reload();
  });
}
