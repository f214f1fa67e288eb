import type { Failure, User } from '@postroom/client';
import { type ComponentProps, type PropsWithChildren, useEffect, useRef } from 'react';
import { describe } from '../failures.ts';
import { initialOf } from '../text.ts';

/** The paths of icons of 24 × 24 units. */
const icons = {
  back: 'M15 5l-7 7 7 7',
  board: 'M4 5h16v14H4zM9.5 5v14M14.5 5v14',
  close: 'M6 6l12 12M18 6L6 18',
  delete: 'M4 7h16M9 7V4h6v3M6.5 7l1 13h9l1-13M10 11v5M14 11v5',
  down: 'M12 5v14M6 13l6 6 6-6',
  edit: 'M4 20l1-4L16 5l3 3L8 19l-4 1zM14 7l3 3',
  people:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20a6.5 6.5 0 0 1 13 0M16 4.5a3.5 3.5 0 0 1 0 6M18 14a6.5 6.5 0 0 1 3.5 6',
  plus: 'M12 5v14M5 12h14',
  PRIVATE: 'M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3',
  PUBLIC: 'M9 4L7 20M17 4l-2 16M4 9h17M3 15h17',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l4 4',
  send: 'M4 12L20 4l-5 16-3.5-6.5L4 12zM11.5 13.5L20 4',
};
type IconName = keyof typeof icons;

export const Icon = ({ name }: { name: IconName }) => (
  <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={icons[name]} />
  </svg>
);

export const Button = (props: ComponentProps<'button'>) => <button type="button" {...props} />;

export const IconButton = ({ icon, label, ...props }: ComponentProps<'button'> & { icon: IconName; label: string }) => (
  <Button className="icon-button" aria-label={label} title={label} {...props}>
    <Icon name={icon} />
  </Button>
);

export const Field = ({ label, ...input }: { label: string } & ComponentProps<'input'>) => (
  <label className="field">
    {label} <input required {...input} />
  </label>
);

/** What went wrong, if anything did. */
export const Problem = ({ failure }: { failure: Failure | undefined }) =>
  failure ? <p role="alert">{describe(failure)}</p> : null;

/** Its color follows from the id, because names are not unique. */
export function Avatar({ user: { id, name } }: { user: User }) {
  const hue = [...id].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 360, 7);
  return (
    <span className="avatar" aria-hidden="true" style={{ background: `oklch(0.48 0.11 ${hue})` }}>
      {initialOf(name)}
    </span>
  );
}

/** Escape closes it, and the focus returns to where it was. */
export function Dialog({ title, onClose, children }: PropsWithChildren<{ title: string; onClose: () => void }>) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
    dialog.current?.querySelector('input')?.focus();
  }, []);
  return (
    <dialog ref={dialog} aria-label={title} onClose={onClose} closedby="any">
      <header>
        <h2>{title}</h2>
        <IconButton icon="close" label="Close" onClick={() => dialog.current?.close()} />
      </header>
      {children}
    </dialog>
  );
}
