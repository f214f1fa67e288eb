import type { ErrorLike } from '@apollo/client';
import type { ComponentProps } from 'react';
import { describeFailure } from '../failures.ts';

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
  return error ? <p role="alert">{describeFailure(error)}</p> : null;
}
