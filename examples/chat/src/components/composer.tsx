import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { lengthOf, maxTextLength, tidy } from '../text.ts';
import { Button, Icon } from './ui.tsx';

interface ComposerProps {
  label: string;
  text: string;
  onSubmit: (text: string) => void;
  onChange?: (text: string) => void;
  /** It changes a message that exists. */
  onCancel?: () => void;
  /** ArrowUp in an empty text. */
  onEditLast?: () => void;
}

/** Writes a new message, or changes one. Enter sends it, Shift+Enter begins a new line. */
export function Composer({ label, text: initial, onSubmit, onChange, onCancel, onEditLast }: ComposerProps) {
  const [text, setText] = useState(initial);
  const area = useRef<HTMLTextAreaElement>(null);
  const length = text.length > maxTextLength / 2 ? lengthOf(text) : text.length;
  const isTooLong = length > maxTextLength;
  const isChange = onCancel !== undefined;

  useEffect(() => {
    // The keyboard of a phone would cover the messages.
    if (isChange || matchMedia('(hover: hover)').matches) area.current?.focus();
    area.current?.setSelectionRange(-1, -1);
  }, [isChange]);

  function change(changed: string) {
    setText(changed);
    onChange?.(changed);
  }

  function submit(event: FormEvent | KeyboardEvent) {
    event.preventDefault();
    if (!tidy(text) || isTooLong) return;
    onSubmit(tidy(text));
    if (!isChange) change('');
  }

  function handleKey(event: KeyboardEvent) {
    // Enter also ends the input of a character that is composed from several keys.
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter' && !event.shiftKey) submit(event);
    if (event.key === 'Escape') onCancel?.();
    if (event.key !== 'ArrowUp' || text || !onEditLast) return;
    event.preventDefault();
    onEditLast();
  }

  return (
    <form className="composer" aria-label={label} onSubmit={submit}>
      {/* The text is repeated in ::after, whose height is that of the text area. */}
      <div className="growing" data-text={text}>
        <textarea
          ref={area}
          aria-label={label}
          placeholder={label}
          rows={1}
          dir="auto"
          enterKeyHint="send"
          value={text}
          onChange={({ currentTarget }) => change(currentTarget.value)}
          onKeyDown={handleKey}
        />
      </div>
      {isChange && <Button onClick={onCancel}>Cancel</Button>}
      <button type="submit" disabled={!text.trim() || isTooLong} aria-label={isChange ? 'Save' : 'Send'}>
        {isChange ? 'Save' : <Icon name="send" />}
      </button>
      {isTooLong && (
        <small role="alert">{`${length.toLocaleString()} of ${maxTextLength.toLocaleString()} characters`}</small>
      )}
    </form>
  );
}
