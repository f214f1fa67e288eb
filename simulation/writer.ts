import type { Answer } from '../src/engine/answer.ts';
import type { Node } from './node.ts';
import type { RunContext } from './run-context.ts';
import { world } from './scheduler.ts';

/** The changes that users make, with how often each is chosen. */
const changes = {
  createPost: 50,
  updatePost: 6,
  deletePost: 4,
  markRead: 9,
  setTyping: 2,
  joinRoom: 8,
  leaveRoom: 6,
  addRoomMember: 5,
  removeRoomMember: 6,
  updateRoom: 6,
  createRoom: 2,
  deleteRoom: 1,
  deleteUser: 0.5,
} as const;

/** Those of the extensions. */
const extensionChanges = { addTask: 12, moveTask: 12, addReaction: 10, removeReaction: 4 } as const;
const allChanges = { ...changes, ...extensionChanges };
type Change = keyof typeof allChanges;

/** Of these the users react to some. */
const latestPosts = 8;
const emoji = ['👍', '🎉', '🚀'];

/** What is selected of a payload; by default only its type. */
const selections: Partial<Record<Change, string>> = {
  createPost: '{ post { id } }',
  createRoom: '{ room { id } }',
  addTask: '{ task { id version } }',
  moveTask: '{ task { id version } }',
};
const inputTypes: Partial<Record<Change, string>> = { addReaction: 'ReactionInput', removeReaction: 'ReactionInput' };

/** A user who changes rooms and posts through any node, at random. */
export class Writer {
  readonly #context: RunContext;
  readonly #userId: string;
  readonly #posts: string[] = [];
  /** The rooms of these posts, by id. */
  readonly #rooms = new Map<string, string>();
  #number = 0;

  constructor(context: RunContext, userId: string) {
    this.#context = context;
    this.#userId = userId;
  }

  /** Makes one change after the other, until the faults end. */
  start(): void {
    const { scheduler } = this.#context;
    const { random } = scheduler;
    // Some changes follow each other so quickly that nodes have not noticed the first.
    const delayMs = random.chance(0.3) ? random.between(1, 60) : random.between(5, 600);
    scheduler.after(delayMs, () => this.#next(), world);
  }

  /** In a step of the node. */
  async change(node: Node, change: Change, input: Record<string, unknown>): Promise<Answer> {
    const viewer = await node.authenticate(this.#userId);
    const type = inputTypes[change] ?? `${change[0]?.toUpperCase()}${change.slice(1)}Input`;
    const selected = selections[change] ?? '{ __typename }';
    return node.execute(viewer, {
      query: `mutation M($input: ${type}!) { ${change}(input: $input) ${selected} }`,
      variables: { input },
    });
  }

  #next(): void {
    if (this.#context.areFaultsOver || this.#context.model.deleted.has(this.#userId)) return;
    const node = this.#context.pickNode();
    const change = this.#pick();
    const isKnown = node?.hasExtensions || !Object.hasOwn(extensionChanges, change);
    const input = this.#inputOf(change);
    if (node && isKnown && input) {
      this.#context.meetChange(String(input['user'] ?? this.#userId));
      this.#context.scheduler.after(1, () => void this.#run(node, change, input), node.name);
    }
    this.start();
  }

  async #run(node: Node, change: Change, input: Record<string, unknown>): Promise<void> {
    const { scheduler, model } = this.#context;
    const askedAt = scheduler.now;
    const latest = model.latestPost(String(input['room']));
    this.#context.note(`${this.#userId} asks ${node.name}: ${change} ${JSON.stringify(input)}`);
    const answer = await this.change(node, change, input).catch(() => undefined);
    if (!answer) return;
    const code = answer.body.errors?.[0]?.extensions?.['code'];
    this.#context.note(`${this.#userId} is answered by ${node.name}: ${change} ${code ?? 'OK'}`);
    if (code === 'INTERNAL_SERVER_ERROR')
      this.#context.fail(`${change} of ${this.#userId} failed: ${JSON.stringify(answer.body)}`);
    if (code !== undefined && !this.#mayBeRefused(String(code), change, input, askedAt))
      this.#context.fail(`${change} ${JSON.stringify(input)} of ${this.#userId} was refused with ${code}`);
    if (change === 'addTask') this.#checkTask(code, input, answer.body.data, askedAt);
    else if (change === 'createPost') this.#checkPost(code, input, answer.body.data, askedAt);
    else if (code === undefined && model.rewoundAt < askedAt) {
      const isRead = change !== 'markRead' || this.#hasRead(String(input['room']), latest, scheduler.now - askedAt);
      const isShown =
        !Object.hasOwn(extensionChanges, change) || this.#isShown(change, input, answer.body.data, askedAt);
      if (!isRead || !isShown || !this.#isDone(change, input, answer.body.data, scheduler.now - askedAt))
        this.#context.fail(`${change} ${JSON.stringify(input)} of ${this.#userId} was acknowledged, and is not done`);
    }
  }

  /** Whether a change may be refused with a code, by what was true at some moment since it was asked for. */
  #mayBeRefused(code: string, change: Change, input: Record<string, unknown>, askedAt: number): boolean {
    const { model, scheduler, canDatabaseFail } = this.#context;
    const sinceMs = scheduler.now - askedAt;
    const { room, user, post, id = post } = input;
    const isOfExtension = Object.hasOwn(extensionChanges, change);
    const subjectRoom = isOfExtension && room === undefined ? model.extensions?.roomOf(String(id)) : undefined;
    const roomId = subjectRoom ?? this.#rooms.get(String(id)) ?? String(room ?? id);
    const isOwner = model.ownerOf(roomId) === this.#userId;
    if (model.rewoundAt >= askedAt) return true;
    switch (code) {
      case 'SERVICE_UNAVAILABLE':
      case 'OUTCOME_UNKNOWN':
        return canDatabaseFail;
      case 'UNAUTHENTICATED':
        return model.sinceSessionsChanged(this.#userId) <= sinceMs;
      case 'NOT_FOUND': {
        const isChange = change === 'updatePost' || change === 'deletePost' || (isOfExtension && room === undefined);
        const isGone = isChange && !model.isStored(String(id));
        // The posts of a user who is being erased are not there.
        if (post !== undefined && model.versionNow(String(post)) === undefined) return true;
        return isGone || model.deleted.has(String(user)) || model.wasHidden(this.#userId, roomId, sinceMs);
      }
      case 'ROOM_DELETED':
        return change === 'setTyping' && model.ended.has(roomId);
      case 'CONFLICT':
        return isOwner && (change === 'leaveRoom' || user === this.#userId);
      case 'FORBIDDEN':
        if (change === 'markRead' || isOfExtension)
          return !model.isMember(this.#userId, roomId) || model.sinceMoved(this.#userId, roomId) <= sinceMs;
        return ['updateRoom', 'deleteRoom', 'addRoomMember', 'removeRoomMember'].includes(change) && !isOwner;
      default:
        return false;
    }
  }

  /** Whether the user has read a room up to a time, or is no longer the member of that time. */
  #hasRead(roomId: string, at: number, sinceMs: number): boolean {
    const { model } = this.#context;
    return model.readUpTo(this.#userId, roomId) >= at || model.sinceMoved(this.#userId, roomId) <= sinceMs;
  }

  /** Whether a change that was acknowledged is visible in the model. `sinceMs`: it was asked for that long ago. */
  #isDone(change: Change, { room, user, id }: Record<string, unknown>, data: unknown, sinceMs: number): boolean {
    const { model } = this.#context;
    const userId = user === undefined ? this.#userId : String(user);
    const roomId = String(room);
    const hasMoved = model.ended.has(roomId) || model.sinceMoved(userId, roomId) <= sinceMs;
    switch (change) {
      case 'createRoom': {
        const { room: created } = (data as { createRoom: { room: { id: string } } }).createRoom;
        return model.rooms.has(created.id) || model.ended.has(created.id);
      }
      case 'deleteRoom':
        return model.ended.has(String(id));
      case 'deleteUser':
        return model.deleted.has(userId);
      case 'deletePost':
        // Its room may have been deleted with the same commit.
        return model.deletedPosts.has(String(id)) || !model.hasPost(String(id));
      case 'joinRoom':
      case 'addRoomMember':
        return model.isMember(userId, roomId) || hasMoved;
      case 'leaveRoom':
      case 'removeRoomMember':
        return !model.isMember(userId, roomId) || hasMoved;
      default:
        return true;
    }
  }

  /** The same of a change of an extension, which is visible in its tables and announced by an event. */
  #isShown(change: Change, { post, emoji }: Record<string, unknown>, data: unknown, askedAt: number): boolean {
    const { model } = this.#context;
    if (change === 'moveTask') {
      const { id, version } = (data as { moveTask: { task: { id: string; version: number } } }).moveTask.task;
      const now = model.extensions?.versionNow(id);
      return now === undefined || now >= version;
    }
    const isAdded = change === 'addReaction';
    const has = (state: readonly { emoji: string; userId: string }[]) =>
      state.some((each) => each.emoji === emoji && each.userId === this.#userId);
    const states = model.extensions?.reactionsSince(String(post), askedAt) ?? [];
    const isGone = !model.hasPost(String(post)) || model.deleted.has(this.#userId);
    return isGone || states.some((state) => has(state) === isAdded) || (!isAdded && states.length === 0);
  }

  #checkTask(code: unknown, { title, room }: Record<string, unknown>, data: unknown, askedAt: number): void {
    const { model, acknowledged, refused } = this.#context;
    const isStored = model.extensions?.tasks.has(String(title));
    const of = { userId: this.#userId, roomId: String(room) };
    if (code === undefined) {
      const { id } = (data as { addTask: { task: { id: string } } }).addTask.task;
      if (model.rewoundAt < askedAt) acknowledged.set(id, of);
      const isDeleted = model.ended.has(of.roomId) || model.deleted.has(this.#userId);
      if (!isStored && !isDeleted) this.#context.fail(`"${title}" was acknowledged and is not stored`);
    } else if (code !== 'OUTCOME_UNKNOWN') {
      if (isStored) this.#context.fail(`"${title}" was refused with ${code} and is stored`);
      refused.add(String(title));
    }
  }

  #checkPost(code: unknown, { title, room }: Record<string, unknown>, data: unknown, askedAt: number): void {
    const { model } = this.#context;
    const isStored = model.posts.has(String(title));
    if (code === undefined) {
      const { id } = (data as { createPost: { post: { id: string } } }).createPost.post;
      this.#posts.push(id);
      this.#rooms.set(id, String(room));
      // A post that was committed before a rewind is lost.
      if (model.rewoundAt < askedAt) this.#context.acknowledged.set(id, { userId: this.#userId, roomId: String(room) });
      // Its room may have been deleted, with all its rows, with the same commit.
      if (!isStored && !model.ended.has(String(room)))
        this.#context.fail(`"${title}" was acknowledged and is not stored`);
    } else if (code !== 'OUTCOME_UNKNOWN') {
      if (isStored) this.#context.fail(`"${title}" was refused with ${code} and is stored`);
      this.#context.refused.add(String(title));
    }
  }

  #pick(): Change {
    const { hasExtensions, scheduler } = this.#context;
    const weights = Object.entries(hasExtensions ? allChanges : changes);
    const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
    let left = scheduler.random.between(0, total);
    for (const [change, weight] of weights) {
      left -= weight;
      if (left < 0) return change as Change;
    }
    return 'createPost';
  }

  /** Undefined if there is nothing to change. */
  #inputOf(change: Change): Record<string, unknown> | undefined {
    const { model, users, scheduler } = this.#context;
    const { random } = scheduler;
    const all = [...model.rooms.keys()];
    if (all.length === 0 && change !== 'createRoom') return undefined;
    this.#number += 1;
    const name = `${this.#userId.slice(-1)}-${this.#number}`;
    const room = change === 'createRoom' ? '' : random.pick(all);
    const post = this.#posts[random.whole(0, this.#posts.length)];
    switch (change) {
      case 'createPost':
        return { room, title: `post ${name}` };
      case 'addTask':
        return { room, title: `task ${name}`, column: 'To do' };
      case 'moveTask': {
        const tasks = [...(model.extensions?.tasks.values() ?? [])];
        return tasks.length === 0 ? undefined : { id: random.pick(tasks), column: `column ${name}` };
      }
      case 'addReaction':
      case 'removeReaction': {
        // The latest ones, so that several users react to the same.
        const posts = [...model.posts.values()].slice(-latestPosts);
        return posts.length === 0 ? undefined : { post: random.pick(posts), emoji: random.pick(emoji) };
      }
      case 'updatePost':
        return post === undefined ? undefined : { id: post, title: `changed ${name}` };
      case 'deletePost':
        return post === undefined ? undefined : { id: post };
      case 'setTyping':
        return { room, typing: random.chance(0.7) };
      case 'addRoomMember':
      case 'removeRoomMember':
        return { room, user: random.pick(users) };
      case 'updateRoom':
        return { id: room, visibility: random.pick(['PUBLIC', 'PRIVATE']) };
      case 'createRoom':
        return { name: `room ${name}`, visibility: random.pick(['PUBLIC', 'PRIVATE']) };
      case 'deleteRoom':
        return all.length > 2 ? { id: room } : undefined;
      case 'deleteUser':
        // The first users stay, so that something happens until the end.
        return users.indexOf(this.#userId) > 3 ? { id: this.#userId, deletePosts: random.chance(0.5) } : undefined;
      default:
        return { room };
    }
  }
}
