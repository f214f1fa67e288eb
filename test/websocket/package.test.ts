import { expect, it } from 'vitest';
import * as ws from 'ws';

it('ws keeps an incomplete message in the fields that the server counts', () => {
  const { Receiver } = ws as unknown as { Receiver: new () => object };
  expect(new Receiver()).toMatchObject({ _fragments: [], _buffers: [], _bufferedBytes: 0, _messageLength: 0 });
});
