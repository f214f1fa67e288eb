import { type Answer, jsonOf } from '../../../engine/answer.ts';
import { surround } from '../../surround.ts';
import type { Exchange } from '../exchange.ts';
import { Content } from '../responses.ts';
import { type StreamFormat, startStream } from './http-stream.ts';

/* GraphQL over SSE, distinct connections: https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md */

const complete = 'event: complete\ndata:\n\n';

export const sse: StreamFormat = {
  transport: 'sse',
  contentType: 'text/event-stream; charset=utf-8',
  heartbeatMs: 12_000,
  heartbeat: ':\n\n',
  begin: (cursor) => (cursor === undefined ? ':\n\n' : `id: ${cursor}\n:\n\n`),
  encode({ cursor, json }) {
    const id = cursor === undefined ? '' : `id: ${cursor}\n`;
    return Buffer.from(`event: next\n${id}data: ${json}\n\n`);
  },
  end: (body) => `event: next\ndata: ${JSON.stringify(body)}\n\n${complete}`,
};

/** Writes the answer of a query or a mutation as a stream, for a client that prefers text/event-stream. */
export function writeAnswerAsStream(exchange: Exchange, answer: Answer): void {
  startStream(exchange.response, sse.contentType, answer.status);
  new Content(exchange, surround('event: next\ndata: ', jsonOf(answer), `\n\n${complete}`)).flush();
}
