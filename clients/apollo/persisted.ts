import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';

async function sha256(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Sends the hash of a document, and its text only if the server does not know the hash. */
export const persisted = new PersistedQueryLink({ sha256 });
