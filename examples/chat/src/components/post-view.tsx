import type { OutboxEntry, Post } from '@postroom/client';
import { memo, type ReactNode, useState } from 'react';
import { useChat } from '../chat.ts';
import { describe, useAction } from '../failures.ts';
import { updatePost } from '../operations.ts';
import { splitLinks, textOf, toPostText } from '../text.ts';
import { formatFull, formatTime } from '../times.ts';
import { Composer } from './composer.tsx';
import { Avatar, Button, IconButton, Problem } from './ui.tsx';

interface PostViewProps {
  post: Post;
  isFirst: boolean;
  isEditing: boolean;
  /** Undefined ends it. */
  onEdit: (id: string | undefined) => void;
  onDelete: (id: string) => void;
}

export const PostView = memo(({ post, isFirst, isEditing, onEdit, onDelete }: PostViewProps) => {
  const { id, author, publishedAt, version } = post;
  const isOwn = author.id === useChat().viewer.id;
  const time = (
    <time dateTime={publishedAt} title={formatFull(publishedAt)}>
      {formatTime(publishedAt)}
    </time>
  );
  return (
    <li id={id} className="post" data-first={isFirst} tabIndex={-1}>
      {isFirst ? <Avatar user={author} /> : time}
      <div>
        {isFirst && (
          <header>
            <strong dir="auto">{author.name}</strong> {time}
          </header>
        )}
        {isEditing && <EditForm post={post} onEnd={() => onEdit(undefined)} />}
        {!isEditing && <Text text={textOf(post)}>{version > 1 && <small> edited</small>}</Text>}
      </div>
      {isOwn && !isEditing && (
        <footer>
          <IconButton icon="edit" label="Edit" onClick={() => onEdit(id)} />
          <IconButton icon="delete" label="Delete" onClick={() => onDelete(id)} />
        </footer>
      )}
    </li>
  );
});

/** A post that is being sent, or that was refused and can be sent again, changed or unchanged. */
export const OutgoingPost = memo(({ entry }: { entry: OutboxEntry }) => {
  const { outbox, viewer } = useChat();
  const [isEditing, setIsEditing] = useState(false);
  const { key, state, failure } = entry;
  const text = textOf(entry);
  const reason = failure ? describe(failure) : '';

  const stop = () => setIsEditing(false);
  const sendChanged = (changed: string) => void outbox.retry(key, toPostText(changed)).then(stop);

  return (
    <li className="post outgoing" data-state={state} data-first>
      <Avatar user={viewer} />
      <div>
        {isEditing ? (
          <Composer label="Edit unsent message" text={text} onSubmit={sendChanged} onCancel={stop} />
        ) : (
          <Text text={text} />
        )}
        {state === 'sending' && <small>{reason ? `Not sent yet. ${reason} It is tried again.` : 'Sending…'}</small>}
        {state === 'failed' && !isEditing && (
          <div className="failed">
            <p role="alert">Not sent. {reason}</p>
            <Button onClick={() => void outbox.retry(key)}>Send again</Button>
            <Button onClick={() => setIsEditing(true)}>Edit</Button>
            <Button onClick={() => void outbox.remove(key)}>Discard</Button>
          </div>
        )}
      </div>
    </li>
  );
});

/** The text with its links, which cannot reach this page. */
function Text({ text, children }: { text: string; children?: ReactNode }) {
  const toPart = (part: string, index: number) =>
    index % 2 === 0 ? (
      part
    ) : (
      <a key={`${index}`} href={part} target="_blank" rel="noopener noreferrer nofollow">
        {part}
      </a>
    );
  return (
    <p dir="auto">
      {splitLinks(text).map(toPart)}
      {children}
    </p>
  );
}

/** It stays open until the server has confirmed the change. */
function EditForm({ post, onEnd }: { post: Post; onEnd: () => void }) {
  const { client } = useChat();
  const { id, version } = post;
  const save = useAction(async (text: string) => {
    if (text !== textOf(post)) await updatePost(client, { id, expectedVersion: version, ...toPostText(text) });
    onEnd();
  });
  return (
    <>
      <Composer label="Edit message" text={textOf(post)} onSubmit={save.run} onCancel={onEnd} />
      <Problem failure={save.failure} />
    </>
  );
}
