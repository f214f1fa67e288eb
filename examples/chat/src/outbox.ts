import { type ErrorLike, makeVar } from '@apollo/client';
import { client } from './client.ts';
import { CreatePostDocument } from './gql/graphql.ts';
import { addPost, updateRoom } from './room.ts';

/** A post that is not confirmed yet. The error is undefined while it is being sent. */
export type OutgoingPost = { key: string; room: string; title: string; error?: ErrorLike | undefined };

export const outbox = makeVar<readonly OutgoingPost[]>([]);

/**
 * Shows the post at once, and sends it. Its key makes it safe to repeat: by Apollo Client, by the browser itself, and by
 * the user, who cannot know whether a post without an answer was stored.
 */
export async function send(room: string, title: string, key: string = crypto.randomUUID()): Promise<void> {
  remove(key);
  outbox([...outbox(), { key, room, title }]);
  const variables = { input: { room, title }, key };
  const { data, error } = await client.mutate({ mutation: CreatePostDocument, variables, errorPolicy: 'all' });
  const post = data?.createPost?.post;
  if (post) updateRoom(client.cache, room, (current) => addPost(current, post));
  const others = outbox().filter((other) => other.key !== key);
  outbox(post ? others : [...others, { key, room, title, error }]);
}

export function remove(key: string): void {
  outbox(outbox().filter((post) => post.key !== key));
}
