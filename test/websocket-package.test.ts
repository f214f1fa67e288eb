import { expect, it } from 'vitest';
import * as ws from 'ws';

it('ws keeps what it has of a message in fields of the names by which the server lets go of it', () => {
  const { Receiver } = ws as unknown as { Receiver: new () => object };
  expect(new Receiver()).toMatchObject({ _fragments: [], _buffers: [], _errored: false, writableFinished: false });
  expect(new Receiver()).toMatchObject({ _bufferedBytes: 0, _messageLength: 0 });
  expect(new Receiver()).toHaveProperty('_mask');
});
