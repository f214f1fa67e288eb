import { type Client, type ClientOptions, createClient } from 'graphql-ws';
import { onTestFinished } from 'vitest';
import { openDocumented } from '../clients/resume-docs.ts';
import type { Chooser } from './chooser.ts';
import type { ChaosNode } from './node.ts';

const maxRetryMs = 60;

/** Options of clients that lose their connections often; by default they wait for seconds before they connect again. */
export function retrySoon(choose: Chooser): Pick<ClientOptions, 'retryWait'> {
  return { retryWait: () => new Promise((resolve) => setTimeout(resolve, choose.below(maxRetryMs))) };
}

/** Creates clients of graphql-ws as docs/resume.md describes them; each connects to any of the nodes. */
export async function createClientFactory(
  nodes: readonly ChaosNode[],
  choose: Chooser,
  own: Partial<ClientOptions> = {},
): Promise<(token?: string) => Client> {
  const { resumable } = await openDocumented('resumable', 'http://127.0.0.1:1', maxRetryMs);
  return (token) => {
    const { connectionParams, ...options } = resumable();
    const params = typeof connectionParams === 'function' ? connectionParams : () => ({});
    const client = createClient({
      url: () => choose.oneOf(nodes).graphqlUrl.replace('http', 'ws'),
      retryAttempts: Number.POSITIVE_INFINITY,
      shouldRetry: (event) => (event as CloseEvent).code !== 4403,
      ...own,
      ...options,
      connectionParams: async () => ({ ...(await params()), ...(token && { authorization: `Bearer ${token}` }) }),
    });
    onTestFinished(() => void client.dispose());
    return client;
  };
}
