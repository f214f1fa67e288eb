import type { GraphQLSchema } from 'graphql';
import type { BackgroundWork } from '../src/changes/background-work.ts';
import { commitChange } from '../src/changes/commit-change.ts';
import { createDeletions } from '../src/changes/deletions.ts';
import { createTrimming } from '../src/changes/trimming.ts';
import { Cancellation } from '../src/common/cancellation.ts';
import { readConfig } from '../src/config/config.ts';
import type { Database } from '../src/data/database/database.ts';
import { findUser } from '../src/data/domain/users.ts';
import type { Answer } from '../src/engine/answer.ts';
import { createAutomaticDocuments } from '../src/engine/documents/documents.ts';
import { createEngine, type Engine } from '../src/engine/engine.ts';
import { ClientMemory } from '../src/engine/limits/client-memory.ts';
import { ClientError } from '../src/errors.ts';
import { CredentialWatch } from '../src/identity/credential-watch.ts';
import type { Viewer } from '../src/identity/viewer.ts';
import type { Bus } from '../src/live/bus/bus.ts';
import { NetworkBus } from '../src/live/bus/network-bus.ts';
import { followCommonMessages } from '../src/live/common-messages.ts';
import { FanOut } from '../src/live/fan-out.ts';
import { Inventory } from '../src/live/inventory/inventory.ts';
import { Presence } from '../src/live/presence/presence.ts';
import { StateStreams } from '../src/live/states/state-streams.ts';
import type { Extensions } from '../src/resolvers/extensions/extensions.ts';
import type { BusServer } from './bus-server.ts';
import { openSimulatedDatabase } from './database.ts';
import type { Disk } from './disk.ts';
import type { Faults } from './faults.ts';
import type { Scheduler } from './scheduler.ts';

const settings = { RATE_LIMIT: '0', LIMIT_SUBSCRIPTIONS: '100', NODE_NAME: 'simulated' };
const config = readConfig(settings);

/** The types that a node serves, with or without those of extensions. */
export interface Types {
  schema: GraphQLSchema;
  extensions: Extensions;
}

export interface NodeParts {
  name: string;
  disk: Disk;
  /** The number of events that the log of a room keeps. */
  keptEvents: number;
  types: Types;
  scheduler: Scheduler;
  faults: Faults;
  server: BusServer;
  onCommit: () => void;
  /** An error that no fault explains. */
  onDefect: (message: string) => void;
}

/** One operation that a client sends. */
export interface Sent {
  query: string;
  variables: Record<string, unknown>;
}

/** A process of the server without its transports: all other parts are those that `startServer` creates. */
export class Node {
  readonly name: string;
  readonly bus: Bus;
  readonly database: Database;
  readonly fanOut: FanOut;
  readonly presence: Presence;
  readonly engine: Engine;
  readonly credentials: CredentialWatch;
  readonly memory = new ClientMemory(config.limits);
  readonly deletions: BackgroundWork;
  readonly trimming: BackgroundWork;
  /** Whether it has the extensions of examples/extensions. */
  readonly hasExtensions: boolean;
  readonly #inventory: Inventory;
  readonly #crash: () => void;
  #leave = () => {};

  private constructor({ name, disk, keptEvents, types, scheduler, faults, server, onCommit, onDefect }: NodeParts) {
    const { schema, extensions } = types;
    this.name = name;
    this.hasExtensions = !extensions.isEmpty;
    const onError = (error: unknown) => {
      const isExpected = error instanceof ClientError && error.code !== 'INTERNAL_SERVER_ERROR';
      if (!isExpected) onDefect(`${name}: ${error instanceof Error ? error.stack : String(error)}`);
    };
    const log = {
      error: (line: { err?: unknown }) => onError(line.err ?? JSON.stringify(line)),
      warn() {},
      info() {},
      debug() {},
      countDropped: () => 0,
    } as never;
    const { database, crash } = openSimulatedDatabase({ disk, scheduler, faults, onCommit });
    this.database = database;
    this.#crash = crash;
    this.bus = new NetworkBus(server.driverFor(name), { onError });
    const { bus } = this;
    const retention = { hours: 168, count: keptEvents };
    const extensionEvents = extensions.events;
    const live = { config, database, bus, retention, extensionEvents, tracing: undefined };
    this.fanOut = new FanOut({ ...live, onError, onLogRead() {} });
    const { fanOut } = this;
    const askOthers = (roomIds: readonly string[]) => this.#inventory.askForPresence(roomIds);
    this.presence = new Presence({ bus, fanOut, askOthers, onError });
    const { presence } = this;
    const report = { status: { name } as never, errors: [], rooms: [] };
    const local = {
      name,
      readReport: () => report,
      findClients: () => ({ clients: [], total: 0 }),
      readLoad: async () => [],
      findRefusals: () => [],
      endClient: () => undefined,
    };
    const reportPresence = (roomIds: readonly string[]) => presence.report(roomIds);
    this.#inventory = new Inventory({ node: local, database, bus, reportPresence, onError });
    const inventory = this.#inventory;
    this.deletions = createDeletions(database, bus, onError, extensions.tables);
    this.trimming = createTrimming(database, retention, onError);
    const read = () => inventory.readStatus();
    const statusStreams = new StateStreams({ fanOut, name: 'status', read, intervalMs: 1_000, onError });
    const unused = undefined as never;
    const accounts = { sessions: unused, signUp: 'open', passwords: unused, signInLimit: unused, audit() {} } as const;
    const services = {
      extensions,
      database,
      bus,
      ...accounts,
      deletions: this.deletions,
      presence,
      inventory,
    };
    const documents = createAutomaticDocuments();
    this.engine = createEngine({ schema, documents, services, fanOut, statusStreams, presence, config, log });
    const db = database.checks;
    this.credentials = new CredentialWatch({ db, oauth: undefined, viewers: { forget() {}, clear() {} }, onError });
  }

  /** Call it in a step of the node. */
  static async start(parts: NodeParts): Promise<Node> {
    const node = new Node(parts);
    await (node.bus as NetworkBus).open();
    const { bus, fanOut, presence, credentials } = node;
    node.#leave = await followCommonMessages(bus, { fanOut, presence, credentials, onError() {} });
    await node.#inventory.open();
    node.deletions.start();
    return node;
  }

  /** The user of a client, by credentials that are valid now. @throws ClientError. */
  async authenticate(userId: string): Promise<Viewer> {
    const [account] = await this.database.db
      .selectFrom('users')
      .select(['sessionsFrom', 'deletedAt'])
      .where('id', '=', userId)
      .execute();
    const user = await findUser(this.database.db, userId);
    if (!user || !account || account.deletedAt !== null) throw new ClientError('UNAUTHENTICATED');
    return {
      user,
      chargedId: userId,
      credential: { kind: 'session', id: 's', sessionsFrom: account.sessionsFrom },
      scopes: new Set(['READ', 'WRITE']),
      expiresAt: Number.POSITIVE_INFINITY,
    };
  }

  callOf(viewer: Viewer, isResumed = false) {
    return { viewer, address: '127.0.0.1', requestId: 'r', cancellation: new Cancellation(), isResumed };
  }

  /** Runs a query or a mutation. */
  async execute(viewer: Viewer, sent: Sent): Promise<Answer> {
    const call = this.callOf(viewer);
    try {
      return await (await this.engine.prepare(() => toRequest(sent), call)).execute();
    } catch (error) {
      return this.engine.refuse(error, call);
    }
  }

  /** Ends the sessions of a user, as a new password does. */
  async endSessions(userId: string): Promise<void> {
    await commitChange(this.database, this.bus, async (db, { announce }) => {
      const set = db.updateTable('users').set((eb) => ({ sessionsFrom: eb('sessionsFrom', '+', 1) }));
      const { sessionsFrom } = await set.where('id', '=', userId).returning('sessionsFrom').executeTakeFirstOrThrow();
      announce({ type: 'passwordChanged', userId, sessionsFrom });
    });
  }

  /** Stops it in order, as SIGTERM does. */
  async close(): Promise<void> {
    await this.presence.close();
    await this.fanOut.close();
    this.#leave();
    this.#inventory.close();
    this.credentials.stop();
    await this.trimming.stop();
    await this.deletions.stop();
    await this.bus.close();
    await this.database.close();
  }

  /** Ends it as `kill -9` does: what it waited for never happens. */
  kill(): void {
    this.#crash();
  }
}

export function toRequest({ query, variables }: Sent) {
  const none = { documentId: undefined, documentHash: undefined, operationName: undefined, extensions: undefined };
  return { query, variables, ...none };
}
