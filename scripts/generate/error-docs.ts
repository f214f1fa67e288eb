import { clientErrors, type ErrorCode, statusAsJson } from '../../src/errors.ts';

const introduction = `<!-- Generated from src/errors.ts by \`npm run generate\`. Do not edit. -->

# Errors

Every error has a code in \`extensions.code\`. It is the same over every transport. The \`message\` is for developers and may change. Some errors
have more \`extensions\`: \`retryAfterMs\`, \`details\`, \`scope\`, \`live\`, \`requestId\`.

An app repeats an unchanged operation by itself only after \`RATE_LIMITED\`, \`SERVICE_UNAVAILABLE\`, \`BAD_GATEWAY\` and \`REQUEST_TIMEOUT\`, with
pauses that grow; and a mutation with [a key](http.md#repeating-a-mutation) also after \`OUTCOME_UNKNOWN\`, or without an answer. Any other error
needs another request, or the user.

- **status**: that of the HTTP answer if the operation has no other result: [GraphQL over HTTP](http.md). An event stream that has begun
  ends with an event that has the error, or continues after it if only one event has failed.
- **WebSocket**: "message" is a message of the operation, \`next\` if it ran and otherwise \`error\`. "close" is the code with which the server
  [closes](http.md#close-codes) the socket. "HTTP only" includes the request that opens a WebSocket.
`;

const head = '| code | status | WebSocket | meaning | what the app does |\n|---|---|---|---|---|\n';

/** The text of docs/errors.md. */
export function generateErrorDocs(): string {
  const rows = Object.entries(clientErrors).sort(([, a], [, b]) => a.status - b.status);
  return `${introduction}\n${head}${rows.map(toRow).join('')}`;
}

function toRow([code, error]: [code: string, error: (typeof clientErrors)[keyof typeof clientErrors]]): string {
  const webSocket = 'webSocket' in error ? error.webSocket : 'message';
  const asJson = statusAsJson[code as ErrorCode];
  const status = asJson === undefined ? error.status : `${error.status}; ${asJson} as \`application/json\``;
  return `| \`${code}\` | ${status} | ${webSocket} | ${error.meaning} | ${error.action} |\n`;
}
