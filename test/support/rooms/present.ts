import { ProtocolSocket, type Result } from '../clients/protocol-socket.ts';
import type { ReceivedQueue } from '../clients/received-queue.ts';
import type { Person, Postroom } from '../server/postroom.ts';

/** The presence of a room as a test compares it. */
export interface SeenPresence {
  count: number;
  users: string[];
  typing: string[];
}

export const presenceQuery = `subscription ($room: ID!, $visible: Boolean) {
  roomPresence(room: $room, visible: $visible) { count users { name } typing { name } }
}`;

function toSeen(presence: { count: number; users: { name: string }[]; typing: { name: string }[] }): SeenPresence {
  const { count, users, typing } = presence;
  return { count, users: users.map(({ name }) => name), typing: typing.map(({ name }) => name) };
}

/** One subscription to the presence of a room, on a socket of its own. */
class PresenceFollower {
  readonly socket: ProtocolSocket;
  readonly results: ReceivedQueue<Result>;
  readonly refused: Promise<unknown>;

  constructor(socket: ProtocolSocket, room: string, visible: boolean) {
    this.socket = socket;
    ({ results: this.results, refused: this.refused } = socket.subscribe('p', presenceQuery, { room, visible }));
  }

  static async open(
    { webSocketUrl }: Postroom,
    room: string,
    { as, visible = true }: { as?: Person | undefined; visible?: boolean } = {},
  ): Promise<PresenceFollower> {
    const init = as ? { authorization: `Bearer ${as.token}` } : {};
    return new PresenceFollower(await ProtocolSocket.open(webSocketUrl, { init }), room, visible);
  }

  /** The states received so far. */
  get seen(): SeenPresence[] {
    return this.results.all.map(({ data }) => toSeen(data.roomPresence));
  }

  async next(fits: (seen: SeenPresence) => boolean = () => true): Promise<SeenPresence> {
    const { data } = await this.results.next((result) => fits(toSeen(result.data.roomPresence)));
    return toSeen(data.roomPresence);
  }

  /** Resolves with the first state in which exactly these users are present. */
  nextWith(...users: string[]): Promise<SeenPresence> {
    return this.next((seen) => seen.users.join() === users.join());
  }

  /** Cuts the connection without a close frame. */
  async destroy(): Promise<void> {
    this.socket.rawSocket.destroy();
    await this.socket.closed;
  }
}

export async function readPresence(postroom: Postroom, room: string, token?: string) {
  const query = 'query ($room: ID!) { room(id: $room) { presence { count users { name } typing { name } } } }';
  return toSeen((await postroom.ask(query, { room }, token)).room.presence);
}

/** A new room with new people of these names. */
export async function createPresenceHall<Name extends string>(postroom: Postroom, names: readonly Name[]) {
  const people = await postroom.signUpAll(names);
  const find = Object.fromEntries(names.map((name, index) => [name, people[index]])) as Record<Name, Person>;
  const owner = await postroom.signUp('owner');
  const room = await postroom.createRoom(owner, `hall ${crypto.randomUUID()}`);
  const open = (name?: Name, visible = true, at = postroom) =>
    PresenceFollower.open(at, room, { as: name && find[name], visible });
  const call = (mutation: string, { token } = owner) => postroom.ask(`mutation { ${mutation} }`, {}, token);
  return { postroom, room, owner, people: find, open, call };
}

export const setTyping = (room: string, typing = true) =>
  `setTyping(input: { room: "${room}", typing: ${typing} }) { room { id } }`;
