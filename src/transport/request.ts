import type { IncomingMessage } from 'node:http';
import type { GraphQLRequest } from '../engine/operation.ts';
import { ClientError } from '../errors.ts';

const maxJsonDepth = 64;

/**
 * The GraphQL request of a POST, its body limited while it is read.
 * @throws ClientError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, BAD_REQUEST or INVALID_REQUEST.
 */
export async function readPostRequest(request: IncomingMessage, maxBytes: number): Promise<GraphQLRequest> {
  assertJson(request);
  return toGraphQLRequest(parseJson(decodeUtf8(await readBody(request, maxBytes))));
}

/** The GraphQL request of a GET; an empty parameter is an absent one. @throws ClientError BAD_REQUEST or INVALID_REQUEST. */
export function readGetRequest(parameters: URLSearchParams): GraphQLRequest {
  const variables = parameters.get('variables');
  const extensions = parameters.get('extensions');
  return toGraphQLRequest({
    query: parameters.get('query') || undefined,
    operationName: parameters.get('operationName') || undefined,
    variables: variables ? parseJson(variables) : undefined,
    extensions: extensions ? parseJson(extensions) : undefined,
  });
}

/** @throws ClientError INVALID_REQUEST where it is not a request object; other keys are ignored, null is absent. */
export function toGraphQLRequest(value: unknown): GraphQLRequest {
  if (!isObject(value)) throw new ClientError('INVALID_REQUEST', 'A GraphQL request is a JSON object.');
  const { query, operationName, variables, extensions } = value;
  if (typeof query !== 'string') throw new ClientError('INVALID_REQUEST', '"query" must be a string.');
  if (operationName != null && typeof operationName !== 'string') {
    throw new ClientError('INVALID_REQUEST', '"operationName" must be a string.');
  }
  if (variables != null && !isObject(variables))
    throw new ClientError('INVALID_REQUEST', '"variables" must be an object.');
  if (extensions != null && !isObject(extensions))
    throw new ClientError('INVALID_REQUEST', '"extensions" must be an object.');
  return {
    query,
    operationName: operationName ?? undefined,
    variables: variables ?? undefined,
    extensions: extensions ?? undefined,
  };
}

function assertJson({ headers }: IncomingMessage): void {
  const [type = '', ...parameters] = (headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  if (type !== 'application/json') {
    throw new ClientError('UNSUPPORTED_MEDIA_TYPE', 'A POST has the Content-Type application/json.');
  }
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (charset !== undefined && charset.replaceAll('"', '') !== 'utf-8') {
    throw new ClientError('UNSUPPORTED_MEDIA_TYPE', 'The body is in UTF-8.');
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new ClientError('UNSUPPORTED_MEDIA_TYPE', 'The body has no Content-Encoding.');
  }
}

function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) {
        request.removeAllListeners('data');
        return reject(new ClientError('PAYLOAD_TOO_LARGE', `The body is longer than ${maxBytes} bytes.`));
      }
      chunks.push(chunk);
    });
    request.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.once('error', () => reject(new ClientError('BAD_REQUEST', 'The body did not arrive whole.')));
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new ClientError('BAD_REQUEST', 'The body is not UTF-8.');
  }
}

function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new ClientError('BAD_REQUEST', `The JSON is nested deeper than ${maxJsonDepth}.`);
  try {
    return JSON.parse(text);
  } catch {
    throw new ClientError('BAD_REQUEST', 'The JSON does not parse.');
  }
}

/** Before the parse, whose own depth is bounded by the stack alone. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (isString) {
      if (code === 92) index += 1;
      else if (code === 34) isString = false;
    } else if (code === 34) isString = true;
    else if (code === 91 || code === 123) {
      depth += 1;
      if (depth > maxJsonDepth) return true;
    } else if (code === 93 || code === 125) depth -= 1;
  }
  return false;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
