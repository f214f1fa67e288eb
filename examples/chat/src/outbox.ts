import { type ErrorLike, makeVar } from '@apollo/client';
import { defer, firstValueFrom } from 'rxjs';
import { client } from './client.ts';
import { repeatFailed } from './failures.ts';
import { CreatePostDocument } from './gql/graphql.ts';
import { addPost, updateRoom } from './room.ts';

/** A post that is not confirmed yet. Unless the server has refused it, it is being sent, again after an error. */
export type OutgoingPost = { key: string; room: string; title: string; error?: ErrorLike; isRefused?: boolean };

export const outbox = makeVar<readonly OutgoingPost[]>([]);

/** One post is sent after the other, so that they keep their order. */
let allSent = Promise.resolve();

/**
 * Shows the post at once, and sends it. Its key makes it safe to repeat: by the app, by the browser itself, and by the
 * user, who cannot know whether a post without an answer was stored.
 */
export function send(room: string, title: string, key: string = crypto.randomUUID()): void {
  const post = { key, room, title };
  outbox([...outbox(), post]);
  allSent = allSent.then(() => publish(post));
}

export function remove(key: string): void {
  outbox(outbox().filter((post) => post.key !== key));
}

async function publish({ key, room, title }: OutgoingPost): Promise<void> {
  const variables = { input: { room, title }, key };
  const sent = defer(() => client.mutate({ mutation: CreatePostDocument, variables }));
  try {
    const { data } = await firstValueFrom(sent.pipe(repeatFailed((error) => report(key, { error }))));
    const post = data?.createPost?.post;
    if (post) updateRoom(client.cache, room, (current) => addPost(current, post));
    remove(key);
  } catch (error) {
    report(key, { error: error as ErrorLike, isRefused: true });
  }
}

function report(key: string, failure: Pick<OutgoingPost, 'error' | 'isRefused'>): void {
  outbox(outbox().map((post) => (post.key === key ? { ...post, ...failure } : post)));
}
