export type Session = { accessToken: string; user: { id: string; name: string } };

const key = 'postroom:chat';

/** Stored for this browser tab. The page is loaded again at its start and end, so that nothing of a session outlives it. */
export const session: Session | null = JSON.parse(sessionStorage.getItem(key) ?? 'null');

export function startSession(started: Session): void {
  sessionStorage.setItem(key, JSON.stringify(started));
  location.reload();
}

export function endSession(): void {
  sessionStorage.removeItem(key);
  location.reload();
}
