import { subscriptionExchange } from '@urql/core';
import { postroom } from './postroom.ts';

export const subscriptions = subscriptionExchange({
  forwardSubscription: ({ query = '', variables }) => ({
    subscribe: (sink) => ({ unsubscribe: postroom.live.subscribe({ query, variables }, sink) }),
  }),
});
