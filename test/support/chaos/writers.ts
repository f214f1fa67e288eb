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

/** A change of a task or a post, each with one event. */
export interface Change {
  subjectId: string;
  outcome: Outcome;
}

const own = {
  task: 'mutation ($input: AddTaskInput!) { addTask(input: $input) { task { id } } }',
  move: 'mutation ($input: MoveTaskInput!) { moveTask(input: $input) { task { id } } }',
  reaction: 'mutation ($input: ReactionInput!) { addReaction(input: $input) { post { id } } }',
};
/** So many different ones a post may have. */
const emoji = [...'🍎🍐🍊🍋🍌🍉🍇🍓🍈🍒🍑🍍🥥🥝🍅🍆🥑🥦🥬🥒'];

/** Creates posts through any node, and with the extensions tasks, moves and reactions, and records what became of them. */
export class Writers {
  readonly writes: Write[] = [];
  readonly changes: Change[] = [];
  readonly hasExtensions: boolean;
  /** The ids of tasks, and of posts with the number of their reactions. */
  readonly #tasks: string[] = [];
  readonly #posts: { id: string; reactions: number }[] = [];
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
    hasExtensions?: boolean;
  }) {
    this.#nodes = options.nodes;
    this.#rooms = options.rooms;
    this.#token = options.token;
    this.#choose = options.choose;
    this.#journal = options.journal;
    this.hasExtensions = options.hasExtensions ?? false;
  }

  /** Starts writers, each of which waits for the answer to one post before it sends the next. */
  start(count: number): void {
    this.#isStopping = false;
    this.#running = Array.from({ length: count }, async (_, index) => {
      while (!this.#isStopping) {
        await this.#write(this.#chooseNode(), this.#choose.oneOf(this.#rooms), `writer${index}`);
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

  /** A post, or with the extensions half of the time a task, a move of a task or a reaction. */
  #write(node: ChaosNode, room: string, writer: string): Promise<Outcome> {
    const kind = this.hasExtensions ? this.#choose.oneOf(['post', 'post', 'post', 'task', 'move', 'reaction']) : 'post';
    if (kind === 'task') return this.post(node, room, writer, 'task');
    if (kind === 'move' && this.#tasks.length > 0) {
      this.#count += 1;
      return this.#change(node, own.move, { id: this.#choose.oneOf(this.#tasks), column: `column ${this.#count}` });
    }
    const post = kind === 'reaction' && this.#posts.length > 0 ? this.#choose.oneOf(this.#posts) : undefined;
    const reaction = post && emoji[post.reactions];
    if (!post || !reaction) return this.post(node, room, writer);
    post.reactions += 1;
    return this.#change(node, own.reaction, { post: post.id, emoji: reaction });
  }

  async #change(node: ChaosNode, query: string, input: Record<string, string>): Promise<Outcome> {
    const change: Change = { subjectId: input['id'] ?? input['post'] ?? '', outcome: 'unknown' };
    this.changes.push(change);
    const { outcome } = await this.#send(node, query, input);
    change.outcome = outcome;
    this.#journal.count(`change ${outcome}`);
    return outcome;
  }

  async post(node: ChaosNode, room: string, writer?: string, kind: 'post' | 'task' = 'post'): Promise<Outcome> {
    this.#count += 1;
    const title = `${kind} ${this.#count}`;
    const write: Write = { title, room, writer: writer ?? title, outcome: 'unknown', at: 0, via: node.name };
    this.writes.push(write);
    const { outcome, id } = await this.#send(node, kind === 'task' ? own.task : mutation, { room, title });
    write.outcome = outcome;
    if (id !== undefined && kind === 'task') this.#tasks.push(id);
    else if (id !== undefined) this.#posts.push({ id, reactions: 0 });
    write.at = performance.now();
    this.#journal.count(write.outcome);
    return write.outcome;
  }

  /** Avoids nodes that do not run, as a load balancer does. */
  #chooseNode(): ChaosNode {
    const running = this.#nodes.filter(({ isUp }) => isUp);
    return this.#choose.oneOf(running.length > 0 ? running : this.#nodes);
  }

  async #send(
    { graphqlUrl, name }: ChaosNode,
    query: string,
    input: Record<string, string>,
  ): Promise<{ outcome: Outcome; id?: string }> {
    try {
      const response = await fetch(graphqlUrl, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/graphql-response+json',
          authorization: `Bearer ${this.#token}`,
        },
        body: JSON.stringify({ query, variables: { input } }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await response.text();
      if (response.status === 200) return { outcome: 'acknowledged', id: /"id":"(\w+)"/.exec(text)?.[1] ?? '' };
      if (response.status === 503) return { outcome: 'refused' };
      this.#journal.count(`answer ${response.status}`);
      if (response.status !== 294)
        this.#journal.violate(`${JSON.stringify(input)} through ${name}: ${response.status} ${text}`);
      else if (isRefusal(JSON.parse(text))) return { outcome: 'refused' };
    } catch {}
    return { outcome: 'unknown' };
  }
}

interface PartialAnswer {
  errors?: { path?: (string | number)[]; extensions?: { code?: string } }[];
}

/** Whether the mutation itself failed, and not a field of its payload, which is read after the commit. */
function isRefusal({ errors = [] }: PartialAnswer): boolean {
  return errors.some(({ path, extensions }) => path?.length === 1 && extensions?.code === 'SERVICE_UNAVAILABLE');
}
