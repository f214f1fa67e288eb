import type { Presence } from '../presence.ts';
import { session } from '../session.ts';

/** Who has the room open. Guests, and people after the first hundred, are only counted. */
export function Present({ presence: { count, users } }: { presence: Presence }) {
  return (
    <small>
      {count} here: {users.map(({ name }) => name).join(', ')}
    </small>
  );
}

/** The other people who are typing. */
export function Typing({ presence }: { presence: Presence | undefined }) {
  const others = presence?.typing.filter(({ id }) => id !== session?.user.id) ?? [];
  const names = others.map(({ name }) => name).join(', ');
  return <small aria-live="polite">{names && `${names} ${others.length > 1 ? 'are' : 'is'} typing…`}</small>;
}
