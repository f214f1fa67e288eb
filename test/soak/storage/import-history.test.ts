import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { Archive } from '../../support/rooms/history.ts';

/* Imports a real chat history with 196,123 posts. The test takes long because of the size of the history. */

const file =
  process.env['CHAT_HISTORY'] ??
  fileURLToPath(new URL('../../../../shared/data/ubuntu-irc.ndjson.gz', import.meta.url));

it('real chat history is imported completely, and recognised when it is imported again', async ({ skip }) => {
  if (!existsSync(file)) skip(`there is no ${file}`);
  const archive = new Archive();
  const first = await archive.takeFile(file);
  expect(first).toMatchObject({ status: 0, stderr: '', rooms: [1, 0], users: [15_730, 0], posts: [196_123, 0] });
  expect(first.stdout).toContain('90 titles had control characters');
  const again = await archive.takeFile(file);
  expect(again).toMatchObject({ status: 0, stderr: '', rooms: [0, 1], users: [0, 15_730], posts: [0, 196_123] });
  expect(archive.count('posts')).toBe(196_123);
});
