import type { User } from '@postroom/client';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { useChat } from '../chat.ts';
import { useAction } from '../failures.ts';
import { createRoom, findRooms, findUsers, joinRoom, openDirectRoom } from '../operations.ts';
import { Avatar, Button, Dialog, Field, Icon, Problem } from './ui.tsx';

type DialogProps = { onClose: () => void };

/** Runs an action that returns the id of a room, and opens the room. */
export function useOpening<Args extends unknown[]>(action: (...args: Args) => Promise<string>, onClose: () => void) {
  return useAction(async (...args: Args) => {
    location.hash = await action(...args);
    onClose();
  });
}

export function NewRoom({ onClose }: DialogProps) {
  const { client } = useChat();
  const create = useOpening((form: FormData) => {
    return createRoom(client, String(form.get('name')), form.has('private') ? 'PRIVATE' : 'PUBLIC');
  }, onClose);
  return (
    <Dialog title="New room" onClose={onClose}>
      <form onSubmit={(event) => create.run(readForm(event))}>
        <Field label="Name" name="name" maxLength={80} autoComplete="off" />
        <label>
          <input type="checkbox" name="private" /> Private: only members see it
        </label>
        <Problem failure={create.failure} />
        <button type="submit">Create room</button>
      </form>
    </Dialog>
  );
}

export function BrowseRooms({ onClose }: DialogProps) {
  const { client } = useChat();
  const join = useOpening((id: string) => joinRoom(client, id).then(() => id), onClose);
  return (
    <Dialog title="Browse rooms" onClose={onClose}>
      <Problem failure={join.failure} />
      <Search label="Name of a room" find={(name) => findRooms(client, name)}>
        {({ id, name, viewerRole }) => (
          <>
            <Icon name="PUBLIC" />
            <a href={`#${id}`} dir="auto" onClick={onClose}>
              {name}
            </a>
            {!viewerRole && (
              <Button aria-label={`Join ${name}`} onClick={() => join.run(id)}>
                Join
              </Button>
            )}
          </>
        )}
      </Search>
    </Dialog>
  );
}

export function NewDirectMessage({ onClose }: DialogProps) {
  const { client, viewer } = useChat();
  const open = useOpening((user: User) => openDirectRoom(client, user.id), onClose);
  return (
    <Dialog title="New direct message" onClose={onClose}>
      <Problem failure={open.failure} />
      <UserSearch actions={{ Message: open.run }} excluded={[viewer]} />
    </Dialog>
  );
}

/** What can be done about a user, by the words of the buttons. */
type UserActions = Record<string, (user: User) => void>;

export function UserSearch({ actions, excluded }: { actions: UserActions; excluded: readonly User[] }) {
  const { client } = useChat();
  return (
    <Search label="Name of a person" find={(name) => findUsers(client, name)} excluded={excluded}>
      {(user) => <UserItem user={user} actions={actions} />}
    </Search>
  );
}

export const UserItem = ({ user, actions }: { user: User; actions: UserActions }) => (
  <>
    <Avatar user={user} />
    <span dir="auto">{user.name}</span>
    {Object.entries(actions).map(([word, act]) => (
      <Button key={word} aria-label={`${word} ${user.name}`} onClick={() => act(user)}>
        {word}
      </Button>
    ))}
  </>
);

interface SearchProps<Item> {
  label: string;
  find: (text: string) => Promise<Item[]>;
  excluded?: readonly { id: string }[];
  children: (item: Item) => ReactNode;
}

function Search<Item extends { id: string }>({ label, find, excluded = [], children }: SearchProps<Item>) {
  const [items, setItems] = useState<Item[]>();
  const search = useAction(async (text: string) => setItems(await find(text)));
  const found = items?.filter(({ id }) => !excluded.some((item) => item.id === id));
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it opens.
  useEffect(() => search.run(''), []);
  return (
    <>
      <form className="search" onSubmit={(event) => search.run(String(readForm(event).get('text')))}>
        <Field label={label} name="text" type="search" required={false} autoComplete="off" />
        <button type="submit">Search</button>
      </form>
      <Problem failure={search.failure} />
      <ul aria-label="Found">
        {found?.map((item) => (
          <li key={item.id}>{children(item)}</li>
        ))}
      </ul>
      {found?.length === 0 && <p className="hint">Nothing else was found.</p>}
    </>
  );
}

function readForm(event: FormEvent<HTMLFormElement>): FormData {
  event.preventDefault();
  return new FormData(event.currentTarget);
}
