import type { ConnectionState } from '@postroom/client';
import { useConnection } from '@postroom/client/react';
import { useEffect, useState } from 'react';
import { type Chat, useChat } from '../chat.ts';
import { describe } from '../failures.ts';
import { Button } from './ui.tsx';

/** Each state has a color, a shape and a word. */
const views: Record<ConnectionState, { word: string; shape: string }> = {
  connecting: { word: 'Connecting…', shape: 'M8 3a5 5 0 1 1-5 5' },
  live: { word: 'Live', shape: 'M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3z' },
  'catching up': { word: 'Catching up…', shape: 'M8 2v8M4 7l4 4 4-4M3 14h10' },
  stale: { word: 'Reconnecting…', shape: 'M8 2l7 12H1zM8 6v4M8 12v.5' },
  refused: { word: 'Disconnected', shape: 'M3 3h10v10H3zM6 6l4 4M10 6l-4 4' },
};

export function ConnectionBadge() {
  const { state } = useConnection(useChat().client);
  return (
    <span role="status" className="connection" data-state={state}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={views[state].shape} />
      </svg>
      {views[state].word}
    </span>
  );
}

/** Says what a lost connection means for the user, and afterwards what has happened meanwhile. */
export function ConnectionNotice() {
  const chat = useChat();
  const { state, failure } = useConnection(chat.client);
  const texts: Partial<Record<ConnectionState, string>> = {
    live: useReconnectNotice(chat),
    stale: 'The connection is lost. What you write is kept, and is sent when it is back.',
    refused: failure ? describe(failure) : '',
  };
  return (
    <p className="notice" role="status" data-state={state} hidden={!texts[state]}>
      {texts[state]} {state === 'refused' && <Button onClick={() => location.reload()}>Connect again</Button>}
    </p>
  );
}

const noticeMs = 8_000;

function useReconnectNotice({ client, counts }: Chat): string {
  const [notice, setNotice] = useState('');
  useEffect(() => {
    let lost: Chat['counts'] | undefined;
    let timer: ReturnType<typeof setTimeout>;
    return client.connection.subscribe(() => {
      const { state } = client.connection.get();
      if (state === 'stale') lost ??= { ...counts };
      if (state !== 'live' || !lost) return;
      const count = counts.received - lost.received;
      const received = count > 0 ? ` ${count} ${count === 1 ? 'message' : 'messages'} while away,` : '';
      setNotice(
        counts.restarts > lost.restarts
          ? 'Reconnected. You were away for long, so everything was loaded again.'
          : `Reconnected,${received} 0 missed.`,
      );
      lost = undefined;
      clearTimeout(timer);
      timer = setTimeout(() => setNotice(''), noticeMs);
    });
  }, [client, counts]);
  return notice;
}
