import { type Client, createClient } from 'graphql-ws';
import { onTestFinished } from 'vitest';
import { openDocumented } from '../resume-docs.ts';
import type { Chooser } from './chooser.ts';
import type { ChaosNode } from './node.ts';

const maxRetryMs = 60;

/** Creates clients of graphql-ws as docs/resume.md describes them; each connects to any node. */
export async function createClientFactory(
  nodes: readonly ChaosNode[],
  choose: Chooser,
): Promise<(token?: string) => Client> {
  const { resumable } = await openDocumented('resumable', 'http://127.0.0.1:1', maxRetryMs);
  return (token) => {
    const { connectionParams, ...options } = resumable();
    const params = typeof connectionParams === 'function' ? connectionParams : () => ({});
    const client = createClient({
      url: () => choose.oneOf(nodes).graphqlUrl.replace('http', 'ws'),
      retryAttempts: Number.POSITIVE_INFINITY,
      retryWait: () => new Promise((resolve) => setTimeout(resolve, choose.below(maxRetryMs))),
      shouldRetry: (event) => (event as CloseEvent).code !== 4403,
      ...options,
      connectionParams: async () => ({ ...(await params()), ...(token && { authorization: `Bearer ${token}` }) }),
    });
    onTestFinished(() => void client.dispose());
    return client;
  };
}
