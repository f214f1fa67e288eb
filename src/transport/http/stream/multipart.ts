import type { StreamFormat } from './http-stream.ts';

/*
 * Subscriptions as Apollo's clients request them by default:
 * https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol
 */

/** Clients read a part when the boundary after it arrives, so each part is written together with that boundary. */
const boundary = '\r\n--graphql';
/** JSON has no line breaks, so it cannot contain the boundary. */
const part = (json: string) => `\r\ncontent-type: application/json\r\n\r\n${json}${boundary}`;
const heartbeat = part('{}');

export const multipart: StreamFormat = {
  transport: 'multipart',
  contentType: 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0',
  // The protocol expects a heartbeat every 10 s at the latest.
  heartbeatMs: 9_000,
  heartbeat,
  // A part for the position would be an empty result for the client; it resumes with `after`.
  begin: () => `${boundary}${heartbeat}`,
  encode: ({ json }) => Buffer.from(part(`{"payload":${json}}`)),
  end: ({ errors }) => `${part(JSON.stringify({ payload: null, errors }))}--\r\n`,
};
