import { useMutation } from '@apollo/client/react';
import { type ComponentProps, type FormEvent, memo, type PropsWithChildren, useState } from 'react';
import { DeletePostDocument, UpdatePostDocument } from '../gql/graphql.ts';
import { type OutgoingPost, remove, send } from '../outbox.ts';
import type { Post } from '../room.ts';
import { session } from '../session.ts';
import { Button, Failure } from './form.tsx';

const timeFormat = { dateStyle: 'medium', timeStyle: 'short' } as const;

export const PostView = memo(({ post }: { post: Post }) => {
  const { id, title, body, author, publishedAt } = post;
  return (
    <li id={id} data-initial={author.name[0]}>
      <strong>{author.name}</strong> <time>{publishedAt && new Date(publishedAt).toLocaleString([], timeFormat)}</time>
      <p>{title}</p>
      {body && <p>{body}</p>}
      {author.id === session?.user.id && <OwnPostActions post={post} />}
    </li>
  );
});

/** A change is shown at once, and undone if the server refuses it. The event of a deletion removes the post. */
function OwnPostActions({ post }: { post: Post }) {
  const { id, version } = post;
  const [isEditing, setIsEditing] = useState(false);
  const [updatePost, updated] = useMutation(UpdatePostDocument, { errorPolicy: 'all' });
  const [deletePost, deleted] = useMutation(DeletePostDocument, { errorPolicy: 'all', variables: { id } });

  function save(title: string) {
    setIsEditing(false);
    const optimisticResponse = { updatePost: { __typename: 'UpdatePostPayload' as const, post: { ...post, title } } };
    void updatePost({ variables: { input: { id, title, expectedVersion: version } }, optimisticResponse });
  }

  if (isEditing) {
    return (
      <PostForm autoFocus label="Edit message" action="Save" title={post.title} onSubmit={save}>
        <Button onClick={() => setIsEditing(false)}>Cancel</Button>
      </PostForm>
    );
  }
  return (
    <footer>
      <Button onClick={() => setIsEditing(true)}>Edit</Button> <Button onClick={() => deletePost()}>Delete</Button>
      <Failure error={updated.error ?? deleted.error} />
    </footer>
  );
}

/** A post that is being sent, or that was refused and can be sent again, changed or unchanged. */
export function OutgoingPostView({ post: { key, room, title, error, isRefused } }: { post: OutgoingPost }) {
  // A changed post is another one, with a key of its own.
  function sendAgain(changed: string) {
    remove(key);
    send(room, changed, changed === title ? key : undefined);
  }

  if (!isRefused) {
    return (
      <li>
        {title} {error ? '(will be sent again)' : '(sending…)'}
        <Failure error={error} />
      </li>
    );
  }
  return (
    <li>
      <Failure error={error} />
      <PostForm label="Message not sent" action="Send again" title={title} onSubmit={sendAgain}>
        <Button onClick={() => remove(key)}>Discard</Button>
      </PostForm>
    </li>
  );
}

type Submit = (title: string) => unknown;
type Input = Pick<ComponentProps<'input'>, 'autoFocus' | 'onInput'>;
type Properties = Input & { label: string; action: string; title?: string; onSubmit: Submit };

/** Writes a new message, or changes one. */
export function PostForm({ label, action, title, onSubmit, children, ...input }: PropsWithChildren<Properties>) {
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    onSubmit(String(new FormData(event.currentTarget).get('title')));
    event.currentTarget.reset();
  }

  return (
    <form className="post-form" aria-label={label} onSubmit={submit}>
      <input name="title" aria-label={label} defaultValue={title} required autoComplete="off" {...input} />
      <button type="submit">{action}</button>
      {children}
    </form>
  );
}
