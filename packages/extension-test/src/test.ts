/** `former` was a member, and was removed. `admin` has the role ADMIN, and is no member. */
export const callers = ['nobody', 'stranger', 'former', 'member', 'owner', 'admin'] as const;
export type Caller = (typeof callers)[number];

export interface ExtensionTest {
  /** The folder or package, as in EXTENSIONS. */
  extension: string;
  /** Its name, with which its tables begin. */
  name: string;
  /** They are sent in this order, again and again. */
  mutations: readonly MutationTest[];
  /** Queries of rows in a room. */
  reads: readonly Operation[];
  /** Its field of `Subscription`, and what to select of an event. The events are also read in `roomEvents`. */
  subscription: { field?: string; selection: string };
  /** The file of the program, such as src/main.ts; by default that of the package @postroom/server. */
  program?: string;
  /** The URL of a PostgreSQL server whose user may create databases; by default the test runs on SQLite. */
  postgres?: string | undefined;
}

interface Operation {
  document: string;
  variables: (round: Round) => Record<string, unknown>;
}

export interface MutationTest extends Operation {
  /** The field of `Mutation`. */
  field: string;
  /** The type of the event that it causes. */
  event?: string;
  /** Who may send it, if not the member and the owner only. */
  allowed?: { PUBLIC?: readonly Caller[]; PRIVATE?: readonly Caller[] };
}

/** The mutations, sent once: in a room, with a new post, and with the payloads of those before, by field. */
export interface Round {
  room: string;
  post: string;
  // biome-ignore lint/suspicious/noExplicitAny: their shapes are those of the mutations.
  results: Record<string, any>;
}
