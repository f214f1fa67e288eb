import { type ConsoleClient, ConsoleRequestError } from './client.ts';
import { type Status, statusChanges } from './operations.ts';
import { pause } from './pause.ts';

const maxRetryMs = 10_000;

/** Whether the status that the page shows is that of now. */
export type StreamState = 'Connecting…' | 'Live' | 'Reconnecting…';

interface StatusSink {
  show: (status: Status) => void;
  /** `reason` is the message of the server if it refused the stream. */
  showState: (state: StreamState, reason?: string) => void;
}

/** Follows the status of the server, and connects again after every end, until the signal is aborted. */
export async function followStatus(client: ConsoleClient, sink: StatusSink, signal: AbortSignal): Promise<void> {
  sink.showState('Connecting…');
  let attempts = 0;
  while (!signal.aborted) {
    let reason = '';
    try {
      for await (const { serverStatusChanged } of client.stream(statusChanges, signal)) {
        if (signal.aborted) return;
        attempts = 0;
        sink.showState('Live');
        sink.show(serverStatusChanged);
      }
    } catch (error) {
      if (error instanceof ConsoleRequestError) reason = error.message;
      // If the credentials were refused, the session has ended and the signal is aborted; all else is tried again.
    }
    if (signal.aborted) return;
    sink.showState('Reconnecting…', reason);
    // Random, because all consoles lose a server at the same time.
    await pause(Math.min(maxRetryMs, 1_000 * 2 ** attempts) * (0.5 + Math.random() / 2), signal);
    attempts += 1;
  }
}
