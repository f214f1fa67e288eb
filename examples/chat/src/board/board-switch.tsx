import type { PostroomClient } from '@postroom/client';
import { useConnection } from '@postroom/client/react';
import { useEffect, useState } from 'react';
import { useChat } from '../chat.ts';
import { IconButton } from '../components/ui.tsx';
import { hasTasks } from './tasks.ts';

/** What the server has answered: its schema stays the same while it runs. */
const answers = new WeakMap<PostroomClient, boolean>();

/** The button that shows the board instead of the messages, if the server has tasks. */
export function BoardSwitch({ isOn, onChange }: { isOn: boolean; onChange: (isOn: boolean) => void }) {
  const { client } = useChat();
  const { state } = useConnection(client);
  const [isThere, setIsThere] = useState(answers.get(client));
  useEffect(() => {
    if (state !== 'live' || isThere !== undefined) return;
    const show = (answer: boolean) => {
      answers.set(client, answer);
      setIsThere(answer);
    };
    // A server that cannot be reached is asked again when the connection is back.
    hasTasks(client).then(show, () => {});
  }, [client, state, isThere]);
  return isThere && <IconButton icon="board" label="Board" aria-pressed={isOn} onClick={() => onChange(!isOn)} />;
}
