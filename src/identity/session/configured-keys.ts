import { join } from 'node:path';
import { BadSetting } from '../../bad-setting.ts';
import type { Config } from '../../config.ts';
import type { Database, DatabaseState } from '../../data/database.ts';
import { isPostgresUrl } from '../../database-url.ts';
import {
  assertSessionKeys,
  createSessionKeys,
  loadOrCreateSessionKeys,
  parseSessionKeys,
  type SessionKeys,
} from './session-key.ts';

/**
 * The keys of SESSION_KEY; undefined if they are stored with the database. @throws BadSetting if there are none and
 * several nodes may share the database: a key that one node creates would be unknown to the others.
 */
export function readGivenKeys({ sessionKey, databaseUrl }: Config): SessionKeys | undefined {
  if (sessionKey === undefined) {
    if (!isPostgresUrl(databaseUrl)) return undefined;
    const rule = 'needs SESSION_KEY, the same for all nodes; `openssl genpkey -algorithm ed25519` creates one';
    throw new BadSetting('DATABASE_URL', databaseUrl, rule);
  }
  return parseSessionKeys(sessionKey);
}

/** The session key that is stored with the database; it is created if there is none. Without a folder it lasts as long as the database: until the end. */
export function loadOrCreateStoredKeys({ folder }: Database): SessionKeys {
  return folder === undefined ? createSessionKeys() : loadOrCreateSessionKeys(fileIn(folder));
}

/** @throws BadSetting if the session key that is stored with the database is invalid. Creates none. */
export function assertStoredKeys({ folder }: DatabaseState): void {
  if (folder !== undefined) assertSessionKeys(fileIn(folder));
}

function fileIn(folder: string): string {
  return join(folder, 'session-key.pem');
}
