import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { advanceTime, launchWithVirtualClock } from '../support/server/virtual-timers.ts';

it.each([
  { setting: 'its default of 60 s', settings: {}, stallMs: 60_000 },
  { setting: '100 s', settings: { STALL_SECONDS: '100' }, stallMs: 100_000 },
  { setting: '1 s', settings: { STALL_SECONDS: '1' }, stallMs: 1_000 },
])('with STALL_SECONDS at $setting, a client that answers no ping is closed by then, and not before three quarters of it', async ({
  settings,
  stallMs,
}) => {
  const { webSocketUrl } = await launchWithVirtualClock(settings);
  const webSocket = new WebSocket(webSocketUrl, ['graphql-transport-ws'], { autoPong: false });
  onTestFinished(() => webSocket.terminate());
  const socket = new ProtocolSocket(webSocket);
  await once(webSocket, 'open');
  socket.send({ type: 'connection_init' });
  await socket.take(({ type }) => type === 'connection_ack');

  advanceTime(stallMs * 0.74);
  await once(webSocket, 'ping');
  expect(webSocket.readyState).toBe(webSocket.OPEN);
  advanceTime(stallMs * 0.26);
  await expect.poll(() => webSocket.readyState).toBe(webSocket.CLOSED);
  expect(await socket.closed).toEqual({ code: 1013, reason: 'Stalled' });
});
