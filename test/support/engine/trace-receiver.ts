import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

type Value = string | number | boolean;

/** A span as a test sees it. */
export interface ReceivedSpan {
  traceId: string;
  id: string;
  parentId: string | undefined;
  name: string;
  kind: string;
  attributes: Record<string, Value>;
  isFailed: boolean;
  state: string | undefined;
  /** The attributes of the process. */
  resource: Record<string, Value>;
  durationMs: number;
}

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number | string; doubleValue?: number; boolValue?: boolean };
}

interface JsonSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  kind: number;
  attributes: Attribute[];
  status: { code: number };
  startTimeUnixNano: string;
  endTimeUnixNano: string;
}

interface JsonRequest {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: JsonSpan[] }[] }[];
}

const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const failed = 2;

/** A receiver of OTLP over HTTP, with JSON. */
export class TraceReceiver {
  readonly requests: { path: string; headers: IncomingHttpHeaders; body: string }[] = [];
  /** The status of the answers; undefined: it never answers. */
  status: number | undefined = 200;
  readonly #server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const body = Buffer.concat(chunks).toString();
    this.requests.push({ path: request.url ?? '', headers: request.headers, body });
    if (this.status !== undefined) response.writeHead(this.status).end('{}');
  });

  /** Starts it for one test. */
  static async start(): Promise<TraceReceiver> {
    const receiver = new TraceReceiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    onTestFinished(() => {
      receiver.#server.closeAllConnections();
      receiver.#server.close();
    });
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get settings() {
    return { OTEL_EXPORTER_OTLP_ENDPOINT: this.url };
  }

  /** All texts that it has received. */
  get text(): string {
    return this.requests.map(({ body }) => body).join('\n');
  }

  /** All spans so far, in the order in which they ended. A server that has stopped has sent all of its spans. */
  get spans(): ReceivedSpan[] {
    return this.requests.flatMap(({ body }) => {
      const { resourceSpans }: JsonRequest = JSON.parse(body);
      return resourceSpans.flatMap(({ resource, scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) => spans.map((span) => read(span, toRecord(resource.attributes)))),
      );
    });
  }

  named(name: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  /** The spans of one trace as lines, each indented below its parent, in the order in which they ended. */
  treeOf(traceId: string): string {
    const spans = this.spans.filter((span) => span.traceId === traceId);
    const ids = new Set(spans.map(({ id }) => id));
    const print = (span: ReceivedSpan, depth: number): string[] => [
      `${'  '.repeat(depth)}${span.kind} ${span.name}${span.isFailed ? ` ${span.attributes['error.type']}` : ''}`,
      ...spans.filter(({ parentId }) => parentId === span.id).flatMap((child) => print(child, depth + 1)),
    ];
    const roots = spans.filter(({ parentId }) => parentId === undefined || !ids.has(parentId));
    return roots.flatMap((root) => print(root, 0)).join('\n');
  }
}

function read(span: JsonSpan, resource: ReceivedSpan['resource']): ReceivedSpan {
  return {
    traceId: span.traceId,
    id: span.spanId,
    parentId: span.parentSpanId,
    name: span.name,
    kind: kinds[span.kind] ?? '',
    attributes: toRecord(span.attributes),
    isFailed: span.status.code === failed,
    state: span.traceState,
    resource,
    durationMs: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
  };
}

function toRecord(attributes: readonly Attribute[]): Record<string, Value> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue, boolValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? (doubleValue ?? boolValue ?? '') : Number(intValue)),
    ]),
  );
}
