import type { TypedDocumentNode } from '@apollo/client';
import { useMutation } from '@apollo/client/react';
import type { FormEvent, ReactNode } from 'react';
import { SignInDocument, SignUpDocument, type SignUpInput } from '../gql/graphql.ts';
import { type Session, startSession } from '../session.ts';
import { Failure, Field } from './form.tsx';

export function SignIn() {
  return (
    <main className="sign-in">
      <h1>Postroom chat</h1>
      <SessionForm title="Sign in" mutation={SignInDocument} />
      <details>
        <summary>Create an account</summary>
        <SessionForm title="Sign up" mutation={SignUpDocument}>
          <Field label="Name" name="name" autoComplete="name" maxLength={80} />
        </SessionForm>
      </details>
    </main>
  );
}

type SessionMutation = TypedDocumentNode<{ session: Session | null }, { input: SignUpInput }>;
type SessionFormProps = { title: string; mutation: SessionMutation; children?: ReactNode };

/** The fields have the names of the mutation's input fields. */
function SessionForm({ title, mutation, children }: SessionFormProps) {
  const [start, { error, loading }] = useMutation(mutation, { errorPolicy: 'all' });

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const input = Object.fromEntries(new FormData(event.currentTarget)) as unknown as SignUpInput;
    const { data } = await start({ variables: { input } });
    if (data?.session) startSession(data.session);
  }

  return (
    <form aria-label={title} onSubmit={submit}>
      {children}
      <Field label="E-mail" name="email" type="email" autoComplete="username" />
      <Field label="Password" name="password" type="password" minLength={8} />
      <Failure error={error} />
      <button type="submit" disabled={loading}>
        {title}
      </button>
    </form>
  );
}
