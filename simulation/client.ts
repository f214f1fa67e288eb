import { ClientDisconnected } from '../src/common/cancellation.ts';
import type { Watch } from '../src/identity/credential-watch.ts';
import type { Stream } from '../src/live/stream.ts';
import { type Node, type Sent, toRequest } from './node.ts';
import type { RunContext } from './run-context.ts';
import { type LiveExtension, type Received, Socket } from './socket.ts';
import { StreamCheck, type Subscribed } from './stream-check.ts';

const post = '{ post { id title version author { id name } } }';
const user = '{ user { id } }';
const fields = `__typename cursor ... on PostCreated ${post} ... on PostUpdated ${post} ... on PostDeleted { postId }`;
/** Fields that a node may have to read. */
const moreFields = `at actor { id } room { id name } ... on MemberJoined ${user} ... on MemberLeft ${user}`;
const read = '... on RoomRead { room { unread lastRead } }';

/** Fields that only nodes with the extensions know. */
function ownFieldsOf(isPersonal: boolean): string {
  const task = '{ task { id title column version } }';
  const reactions = `reactions { emoji count ${isPersonal ? 'viewerHasReacted' : ''} }`;
  return `... on TaskAdded ${task} ... on TaskMoved ${task} ... on PostReacted ${post} ... on PostReacted { post { ${reactions} } }`;
}

function toOperation(follows: Subscribed, selectsMore: boolean, { hasExtensions }: Node): Sent {
  const isPersonal = follows.kind === 'room' && follows.isPersonal;
  const known = hasExtensions ? `${fields} ${ownFieldsOf(isPersonal)}` : fields;
  const selected = selectsMore ? `${known} ${moreFields}` : known;
  if (follows.kind === 'inbox')
    return { query: `subscription Inbox { inbox { ${selected} ${selectsMore ? read : ''} } }`, variables: {} };
  const variables = { room: follows.roomId };
  if (follows.kind === 'presence')
    return { query: 'subscription P($room: ID!) { roomPresence(room: $room) { count users { id } } }', variables };
  if (follows.kind === 'tasks')
    return { query: `subscription T($room: ID!) { taskChanged(room: $room) { ${selected} } }`, variables };
  const personal = isPersonal ? 'room { viewerRole }' : '';
  return { query: `subscription R($room: ID!) { roomEvents(room: $room) { ${selected} ${personal} } }`, variables };
}

interface Open {
  node: Node;
  socket: Socket;
  /** Releases all that the node holds for it. In a step of the node. */
  release: () => void;
  isReplaying: () => boolean;
}

/** A client of one user with one subscription, which reconnects and resumes as @postroom/client does. */
export class Client {
  readonly name: string;
  readonly userId: string;
  readonly follows: Subscribed;
  /** What it has received, compared with the model. */
  readonly check: StreamCheck;
  /** It does not read before this time. */
  pausedUntil = 0;
  /** No reconnection before this time. */
  awayUntil = 0;
  isStopped = false;
  /** When it was told the position of the present connection; undefined before. */
  #openedAt: number | undefined;
  readonly #run: RunContext;
  readonly #selectsMore: boolean;
  #open: Open | undefined;
  #attempts = 0;

  constructor(run: RunContext, name: string, userId: string, follows: Subscribed) {
    this.#run = run;
    this.name = name;
    this.userId = userId;
    this.follows = follows;
    this.#selectsMore = run.scheduler.random.chance(0.6);
    this.check = new StreamCheck(run, name, userId, follows);
  }

  get isLive(): boolean {
    return this.#open !== undefined && this.#openedAt !== undefined;
  }

  /** For how long it has been connected and has read, in milliseconds. */
  get liveMs(): number {
    const since = Math.max(this.#openedAt ?? Number.POSITIVE_INFINITY, this.pausedUntil);
    return this.#open ? this.#run.scheduler.now - since : 0;
  }

  /** Whether its node has not said yet that all events of the past were sent. */
  get isReplaying(): boolean {
    return this.#open?.isReplaying() ?? false;
  }

  isLiveFor(ms: number): boolean {
    return this.liveMs > ms;
  }

  /** Whether its node may be late. */
  get isDisturbed(): boolean {
    return this.#open !== undefined && this.#run.mayBeLate(this.#open.node.name);
  }

  connectSoon(delayMs = this.#run.scheduler.random.between(1, 100)): void {
    const { scheduler } = this.#run;
    const at = Math.max(delayMs, this.awayUntil - scheduler.now);
    scheduler.after(at, () => this.#connect(), 'world');
  }

  /** The connection is lost; the node notices it later. */
  cut(): void {
    const open = this.#close();
    if (open) this.#releaseLater(open, this.#run.scheduler.random.between(0, 3_000));
  }

  /** Ends for good. */
  stop(): void {
    this.isStopped = true;
    const open = this.#close();
    if (open) this.#releaseLater(open, 1);
  }

  /** A node was killed. */
  lose(node: Node): void {
    if (this.#open?.node !== node) return;
    this.#close();
    // Some users close their browser while nothing works.
    if (this.#run.scheduler.random.chance(0.2)) this.isStopped = true;
    else this.#retry();
  }

  #close(): Open | undefined {
    const open = this.#open;
    this.#open = undefined;
    if (open) open.socket.isOpen = false;
    return open;
  }

  #releaseLater({ node, release }: Open, delayMs: number): void {
    this.#run.scheduler.after(delayMs, release, node.name);
  }

  #retry(): void {
    this.#attempts += 1;
    this.connectSoon(this.#run.scheduler.random.next() * Math.min(5_000, 200 * 2 ** this.#attempts));
  }

  #connect(): void {
    if (this.isStopped || this.#open) return;
    const node = this.#run.pickNode(this.follows.kind === 'tasks');
    if (!node) return this.#retry();
    const { scheduler } = this.#run;
    const socket: Socket = new Socket({
      scheduler,
      owner: node.name,
      onWrite: (received) => this.check.written(received),
      onReceived: (received) => this.#receive(received),
      pausedUntil: () => this.pausedUntil,
      onDefect: (defect) => this.#run.fail(`${this.name}: ${defect}`),
    });
    let stream: Stream | undefined;
    let watch: Watch | undefined;
    const account = node.memory.open('127.0.0.1');
    const cancel: (() => void)[] = [];
    const release = () => {
      for (const each of cancel) each();
      stream?.stop('disconnected');
      watch?.stop();
      account.close();
    };
    this.#open = { node, socket, release, isReplaying: () => stream?.isReplaying ?? false };
    this.#openedAt = undefined;
    const after = this.check.connect(node);
    const subscribe = async () => {
      let call = node.callOf(null as never, after !== undefined);
      try {
        const viewer = await node.authenticate(this.userId);
        if (!socket.isOpen) return;
        this.check.signIn(viewer.credential);
        call = node.callOf(viewer, after !== undefined);
        cancel.push(() => call.cancellation.cancel(new ClientDisconnected()));
        watch = node.credentials.watch(viewer, () =>
          socket.send({ kind: 'error', code: 'UNAUTHENTICATED', live: undefined }),
        );
        await watch.checked;
        if (!socket.isOpen) return;
        const operation = await node.engine.prepare(
          () => toRequest(toOperation(this.follows, this.#selectsMore, node)),
          call,
        );
        const opened = await operation.subscribe({ account, transport: 'websocket', after });
        if (!socket.isOpen) return opened.stop('disconnected');
        stream = opened;
        socket.send({ kind: 'position', cursor: stream.cursor, userCursor: stream.userCursor });
        stream.start(socket);
      } catch (error) {
        const [refused] = node.engine.refuse(error, call).body.errors ?? [];
        const { code = 'NONE', live } = (refused?.extensions ?? {}) as { code?: string; live?: LiveExtension };
        if (code === 'SERVICE_UNAVAILABLE') socket.disconnect();
        else socket.send({ kind: 'error', code, live });
      }
    };
    scheduler.after(scheduler.random.between(0.1, 5), () => void subscribe(), node.name);
  }

  #receive(received: Received): void {
    this.check.receive(received);
    if (received.kind === 'next') return;
    if (received.kind === 'position') {
      this.#openedAt = this.#run.scheduler.now;
      this.#attempts = 0;
      return;
    }
    const open = this.#close();
    if (open) this.#releaseLater(open, 1);
    if (this.#run.model.deleted.has(this.userId)) this.isStopped = true;
    this.#retry();
  }
}
