import type { Server } from './server.ts';

/** A room with a member, and what the runner asks the server about it. */
export class Room {
  readonly #server: Server;
  readonly token: string;
  readonly id: string;

  private constructor(server: Server, token: string, id: string) {
    this.#server = server;
    this.token = token;
    this.id = id;
  }

  static async create(server: Server): Promise<Room> {
    const ada = { name: 'Ada', email: `ada-${crypto.randomUUID()}@example.org`, password: 'correct horse' };
    const { signUp } = await ask(server.url, signUpMutation, { input: ada });
    const input = { name: `room ${crypto.randomUUID()}` };
    const { createRoom } = await ask(server.url, createRoomMutation, { input }, signUp.accessToken);
    return new Room(server, signUp.accessToken, createRoom.room.id);
  }

  /** Creates a post, once, also if the server is restarted meanwhile. */
  async post(title: string): Promise<void> {
    for (;;) {
      try {
        await ask(this.#server.url, createPostMutation, { input: { room: this.id, title } }, this.token);
        return;
      } catch (error) {
        if (!isOfRestart(error)) throw error;
        await this.#server.ready;
        if (await this.#has(title)) return;
      }
    }
  }

  async #has(title: string): Promise<boolean> {
    const { room } = await ask(this.#server.url, lastPostsQuery, { room: this.id }, this.token);
    return room.posts.nodes.some((post: { title: string }) => post.title === title);
  }
}

const signUpMutation = 'mutation ($input: SignUpInput!) { signUp(input: $input) { accessToken } }';
const createRoomMutation = 'mutation ($input: CreateRoomInput!) { createRoom(input: $input) { room { id } } }';
const createPostMutation = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';
const lastPostsQuery = 'query ($room: ID!) { room(id: $room) { posts(last: 50) { nodes { title } } } }';

/** The server was not reached, closed the connection, or is stopping. */
function isOfRestart(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof RefusedError && error.status === 503);
}

class RefusedError extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(`The server answered ${status}: ${text}`);
    this.status = status;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: its shape is the query's.
async function ask(url: string, query: string, variables: object, token?: string): Promise<any> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  const text = await response.text();
  if (response.status !== 200) throw new RefusedError(response.status, text);
  return JSON.parse(text).data;
}
