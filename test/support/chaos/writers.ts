import { setTimeout as wait } from 'node:timers/promises';
import type { Chooser } from './chooser.ts';
import type { Journal } from './journal.ts';
import type { ChaosNode } from './node.ts';

const timeoutMs = 4_000;
const maxPauseMs = 25;
const mutation = `mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }`;

/**
 * - `acknowledged`: answered with 200, so the post must be stored.
 * - `refused`: answered with 503 or, for the mutation itself, with SERVICE_UNAVAILABLE: the post must never be stored.
 * - `unknown`: not answered, or answered with 294 and another code.
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

export interface Write {
  title: string;
  room: string;
  writer: string;
  outcome: Outcome;
  /** When it was acknowledged. */
  at: number;
  via: string;
}

/** Creates posts through any node, and records what became of them. */
export class Writers {
  readonly writes: Write[] = [];
  readonly #nodes: readonly ChaosNode[];
  readonly #rooms: readonly string[];
  readonly #token: string;
  readonly #choose: Chooser;
  readonly #journal: Journal;
  #running: Promise<void>[] = [];
  #isStopping = false;
  #count = 0;

  constructor(options: {
    nodes: readonly ChaosNode[];
    rooms: readonly string[];
    token: string;
    choose: Chooser;
    journal: Journal;
  }) {
    this.#nodes = options.nodes;
    this.#rooms = options.rooms;
    this.#token = options.token;
    this.#choose = options.choose;
    this.#journal = options.journal;
  }

  /** Starts writers, each of which waits for the answer to one post before it sends the next. */
  start(count: number): void {
    this.#isStopping = false;
    this.#running = Array.from({ length: count }, async (_, index) => {
      while (!this.#isStopping) {
        await this.post(this.#chooseNode(), this.#choose.oneOf(this.#rooms), `writer${index}`);
        await wait(this.#choose.below(maxPauseMs));
      }
    });
  }

  /** Resolves when no post is waiting for its answer. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#running);
  }

  /** Many posts at once through one node, each of a writer of its own. */
  async burst(node: ChaosNode, count: number): Promise<void> {
    const room = this.#choose.oneOf(this.#rooms);
    await Promise.all(Array.from({ length: count }, () => this.post(node, room)));
  }

  async post(node: ChaosNode, room: string, writer?: string): Promise<Outcome> {
    this.#count += 1;
    const title = `post ${this.#count}`;
    const write: Write = { title, room, writer: writer ?? title, outcome: 'unknown', at: 0, via: node.name };
    this.writes.push(write);
    write.outcome = await this.#send(node, { room, title });
    write.at = performance.now();
    this.#journal.count(write.outcome);
    return write.outcome;
  }

  /** Avoids nodes that do not run, as a load balancer does. */
  #chooseNode(): ChaosNode {
    const running = this.#nodes.filter(({ isUp }) => isUp);
    return this.#choose.oneOf(running.length > 0 ? running : this.#nodes);
  }

  async #send({ graphqlUrl, name }: ChaosNode, input: { room: string; title: string }): Promise<Outcome> {
    try {
      const response = await fetch(graphqlUrl, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/graphql-response+json',
          authorization: `Bearer ${this.#token}`,
        },
        body: JSON.stringify({ query: mutation, variables: { input } }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await response.text();
      if (response.status === 200) return 'acknowledged';
      if (response.status === 503) return 'refused';
      this.#journal.count(`answer ${response.status}`);
      if (response.status !== 294) this.#journal.violate(`${input.title} through ${name}: ${response.status} ${text}`);
      else if (isRefusal(JSON.parse(text))) return 'refused';
    } catch {}
    return 'unknown';
  }
}

interface PartialAnswer {
  errors?: { path?: (string | number)[]; extensions?: { code?: string } }[];
}

/** Whether the mutation itself failed, and not a field of its payload, which is read after the commit. */
function isRefusal({ errors = [] }: PartialAnswer): boolean {
  return errors.some(({ path, extensions }) => path?.length === 1 && extensions?.code === 'SERVICE_UNAVAILABLE');
}
