import { type Client, type ClientOptions, createClient } from 'graphql-ws';
import { onTestFinished } from 'vitest';
import { createResume } from '../../../packages/client/src/index.ts';
import type { Chooser } from './chooser.ts';
import type { ChaosNode } from './node.ts';

const maxRetryMs = 60;

/** Options of clients that lose their connections often; by default they wait for seconds before they connect again. */
export function retrySoon(choose: Chooser): Pick<ClientOptions, 'retryWait'> {
  return { retryWait: () => new Promise((resolve) => setTimeout(resolve, choose.below(maxRetryMs))) };
}

/** Creates clients of graphql-ws that resume; each connects to any of the nodes. */
export function createClientFactory(
  nodes: readonly ChaosNode[],
  choose: Chooser,
  own: Partial<ClientOptions> = {},
): (token?: string) => Client {
  return (token) => {
    const { connectionParams, on, jsonMessageReplacer } = createResume();
    const client = createClient({
      url: () => choose.oneOf(nodes).graphqlUrl.replace('http', 'ws'),
      retryAttempts: Number.POSITIVE_INFINITY,
      shouldRetry: (event) => (event as CloseEvent).code !== 4403,
      ...own,
      on,
      jsonMessageReplacer,
      connectionParams: () => ({ ...connectionParams(), ...(token && { authorization: `Bearer ${token}` }) }),
    });
    onTestFinished(() => void client.dispose());
    return client;
  };
}
