import type { ErrorLike } from '@apollo/client';
import type { ComponentProps } from 'react';

export function Field({ label, ...input }: { label: string } & ComponentProps<'input'>) {
  return (
    <label>
      {label} <input required {...input} />
    </label>
  );
}

export function Button(props: ComponentProps<'button'>) {
  return <button type="button" {...props} />;
}

/** What went wrong, if anything did. */
export function Failure({ error }: { error: ErrorLike | undefined }) {
  return error ? <p role="alert">{error.message}</p> : null;
}
