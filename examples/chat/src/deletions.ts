import { type Failure, failureOf, type PostroomClient } from '@postroom/client';
import { useCallback, useEffect, useState } from 'react';
import { deletePost } from './operations.ts';

const undoMs = 6_000;
const without = (ids: readonly string[], id: string) => ids.filter((other) => other !== id);

/**
 * Posts that are hidden at once, and deleted after some seconds in which this can be undone; without delay when another one
 * is deleted, the room is left, or the page is hidden.
 */
export function useDeletions(client: PostroomClient) {
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const [pending, setPending] = useState<{ id: string; isUndone: boolean }>();
  const [failure, setFailure] = useState<Failure>();

  useEffect(() => {
    if (!pending) return;
    let isSent = false;
    const send = () => {
      if (isSent || pending.isUndone) return;
      isSent = true;
      setPending((latest) => (latest === pending ? undefined : latest));
      deletePost(client, pending.id).catch((error) => {
        setHidden((ids) => without(ids, pending.id));
        setFailure(failureOf(error));
      });
    };
    const sendIfHidden = () => document.visibilityState === 'hidden' && send();
    const timer = setTimeout(send, undoMs);
    document.addEventListener('visibilitychange', sendIfHidden);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', sendIfHidden);
      send();
    };
  }, [client, pending]);

  const remove = useCallback((id: string) => {
    setFailure(undefined);
    setHidden((ids) => [...ids, id]);
    setPending({ id, isUndone: false });
  }, []);

  function undo() {
    if (!pending) return;
    pending.isUndone = true;
    setHidden((ids) => without(ids, pending.id));
    setPending(undefined);
  }
  return { hidden, canUndo: pending !== undefined, undo, remove, failure };
}
