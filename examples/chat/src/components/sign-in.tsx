import { type FormEvent, useState } from 'react';
import { openGuest } from '../chat.ts';
import { useAction } from '../failures.ts';
import { readEndReason, type Session } from '../session.ts';
import { Button, Field, Problem } from './ui.tsx';

const documents = {
  'Sign in':
    'mutation ($input: SignInInput!) { session: signIn(input: $input) { token: accessToken user { id name } } }',
  'Sign up':
    'mutation ($input: SignUpInput!) { session: signUp(input: $input) { token: accessToken user { id name } } }',
};

export function SignIn({ onSession }: { onSession: (session: Session) => void }) {
  const [title, setTitle] = useState<keyof typeof documents>('Sign in');
  const isNew = title === 'Sign up';
  const reason = readEndReason();
  const send = async (input: object) => {
    onSession((await openGuest().request<{ session: Session }>(documents[title], { input })).session);
  };
  const [signIn, signUp] = [useAction(send), useAction(send)];
  const start = isNew ? signUp : signIn;
  const password = isNew ? { autoComplete: 'new-password', minLength: 8 } : { autoComplete: 'current-password' };

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    start.run(Object.fromEntries(new FormData(event.currentTarget)));
  }

  return (
    <main className="sign-in">
      <h1>Postroom</h1>
      {reason && <p role="alert">{reason}</p>}
      {/* The fields have the names of the mutation's input fields. */}
      <form aria-label={title} onSubmit={submit}>
        {isNew && <Field label="Name" name="name" autoComplete="name" maxLength={80} />}
        <Field label="E-mail" name="email" type="email" autoComplete="username" />
        <Field label="Password" name="password" type="password" {...password} />
        <Problem failure={start.failure} />
        <button type="submit" disabled={start.isRunning}>
          {title}
        </button>
      </form>
      <Button className="link" onClick={() => setTitle(isNew ? 'Sign in' : 'Sign up')}>
        {isNew ? 'I have an account' : 'Create an account'}
      </Button>
    </main>
  );
}
