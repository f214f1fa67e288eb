import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { HttpClient } from './http-client.ts';
import { defaultTimeoutMs, until, within } from './waiting.ts';

/** A subscription over server-sent events. */
export class EventStream {
  readonly response: IncomingMessage;
  isClosed = false;
  #text = '';

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      this.#text += text;
    });
    response.on('error', () => {});
    response.once('close', () => {
      this.isClosed = true;
    });
  }

  static async open(client: HttpClient, query: string, headers: Record<string, string> = {}): Promise<EventStream> {
    const call = client.request({
      method: 'POST',
      path: '/graphql',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', connection: 'close', ...headers },
    });
    const answered = once(call, 'response');
    call.end(JSON.stringify({ query }));
    const [response] = (await within(defaultTimeoutMs, 'an event stream', answered)) as [IncomingMessage];
    const stream = new EventStream(response);
    await until(defaultTimeoutMs, () => stream.isClosed || /^id:/m.test(stream.#text) || stream.error !== undefined);
    return stream;
  }

  // biome-ignore lint/suspicious/noExplicitAny: its shape is the operation's.
  get results(): any[] {
    const answers = this.#text.startsWith('{')
      ? [this.#text]
      : [...this.#text.matchAll(/^data: ?(\{.*)$/gm)].map(([, json = '{}']) => json);
    return answers.flatMap((json) => {
      try {
        return [JSON.parse(json)];
      } catch {
        // The event is incomplete.
        return [];
      }
    });
  }

  /** The error that ended or refused the stream. */
  get error(): { extensions: { code: string; live?: { cursor: string } } } | undefined {
    return this.results.find(({ errors }) => errors)?.errors[0];
  }
}
