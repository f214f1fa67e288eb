import { type LiveOperation, ProtocolSocket } from '../clients/protocol-socket.ts';
import type { Person, Postroom, ReplyError } from '../server/postroom.ts';

/** Cursors by room. */
export type Cursors = Record<string, string>;

export const inboxQuery = `subscription ($after: [String!]) { inbox(after: $after) {
  __typename cursor at room { id name } actor { id }
  ... on PostCreated { post { title } } ... on MemberJoined { user { id } } ... on MemberLeft { user { id } }
} }`;

/** An event of an inbox, with the fields that `inboxQuery` selects. */
export interface InboxEvent {
  __typename: string;
  cursor: string;
  room: { id: string; name: string };
  actor: { id: string } | null;
  post?: { title: string } | null;
  user?: { id: string } | null;
  /** Whether its message says that events before it were left out. */
  gap?: true;
}

/** `extensions.live` of an event of an inbox. */
interface LiveOfRoom {
  room: string;
  cursor: string;
  ended?: true;
  gap?: true;
  cursors?: Cursors;
}

/** An inbox on a WebSocket of its own. */
export class InboxStream {
  readonly socket: ProtocolSocket;
  /** The last cursor of each room. */
  readonly cursors: Cursors;
  /** What `createResume()` of @postroom/client stores: the last cursor of each room that has not ended, and of the user. */
  readonly seen: Cursors;
  readonly #operation: LiveOperation;

  constructor(socket: ProtocolSocket, operation: LiveOperation, start: Cursors) {
    this.socket = socket;
    this.#operation = operation;
    this.cursors = { ...start };
    this.seen = { ...start, ...operation.userCursor };
  }

  /** Opens an inbox, and waits until it is live. `seen`: the cursors in `connectionParams`. */
  static async open(
    postroom: Postroom,
    { token }: Person,
    { after, seen, query = inboxQuery }: { after?: string[]; seen?: unknown; query?: string } = {},
  ): Promise<InboxStream> {
    const init = { authorization: `Bearer ${token}`, ...(seen !== undefined && { live: { seen: { inbox: seen } } }) };
    const socket = await ProtocolSocket.open(postroom.graphqlUrl, { init });
    const operation = socket.subscribe('inbox', query, { after });
    const start = await Promise.race([operation.start, operation.refused.then(refuse)]);
    return new InboxStream(socket, operation, start as unknown as Cursors);
  }

  /** The next event. */
  async next(): Promise<InboxEvent> {
    const { data, errors, extensions } = await this.#operation.results.next();
    if (errors) throw new Error(JSON.stringify(errors));
    const { room, cursor, ended, gap, cursors } = extensions.live as unknown as LiveOfRoom;
    this.cursors[room] = cursor;
    if (ended) delete this.seen[room];
    else this.seen[room] = cursor;
    Object.assign(this.seen, cursors);
    return { ...data.inbox, ...(gap && { gap }) };
  }

  /** What the extensions of the next message say about its room. */
  async nextLive(): Promise<object> {
    return (await this.#operation.results.next()).extensions.live;
  }

  /** The next events, each as its type and what it concerns. */
  async take(count: number): Promise<string[]> {
    const events: string[] = [];
    while (events.length < count) events.push(describe(await this.next()));
    return events;
  }

  /** The errors that end it. */
  get refused(): Promise<ReplyError[]> {
    return this.#operation.refused;
  }

  close(): Promise<void> {
    return this.socket.close();
  }
}

function describe({ __typename, room, post }: InboxEvent): string {
  return [__typename, room.name, post?.title].filter((part) => part !== undefined).join(' ');
}

/** The errors that refuse an inbox. */
export async function refusalOf(...args: Parameters<typeof InboxStream.open>): Promise<ReplyError> {
  return InboxStream.open(...args).then(
    () => {
      throw new Error('The inbox was opened.');
    },
    (error: InboxRefused) => error.first,
  );
}

class InboxRefused extends Error {
  readonly first: ReplyError;

  constructor(errors: ReplyError[]) {
    super(JSON.stringify(errors));
    this.first = errors[0] as ReplyError;
  }
}

function refuse(errors: ReplyError[]): never {
  throw new InboxRefused(errors);
}

const changes = {
  joinRoom: 'mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }',
  leaveRoom: 'mutation ($room: ID!) { leaveRoom(input: { room: $room }) { room { id } } }',
  deleteRoom: 'mutation ($room: ID!) { deleteRoom(input: { id: $room }) { room { id } } }',
  markRead: 'mutation ($room: ID!) { markRead(input: { room: $room }) { room { id } } }',
};

/** Joins, leaves, deletes or reads a room. */
export async function change(
  postroom: Postroom,
  name: keyof typeof changes,
  { token }: Person,
  room: string,
): Promise<void> {
  await postroom.ask(changes[name], { room }, token);
}
