import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { failureOf } from '@postroom/client';
import { lastValueFrom } from 'rxjs';
import { fillRoom, openClient } from './example.ts';
import { followRoom } from './multipart.ts';

test('a stream that is refused is not requested again', async () => {
  const client = await openClient();
  const room = await fillRoom(client, []);
  const events = lastValueFrom(followRoom(client, room, 'not a cursor'));
  await assert.rejects(events, (error) => failureOf(error).code === 'CURSOR_INVALID');
});
