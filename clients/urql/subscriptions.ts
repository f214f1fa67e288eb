import { subscriptionExchange } from '@urql/core';
import { live } from './live.ts';

export const subscriptions = subscriptionExchange({
  forwardSubscription: ({ query = '', variables }) => ({
    subscribe: (sink) => ({ unsubscribe: live.subscribe({ query, variables }, sink) }),
  }),
});
