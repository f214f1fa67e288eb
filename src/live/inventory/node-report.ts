import type { Client } from './client.ts';
import type { ClientQuestion, ClientsAnswer } from './clients.ts';

/** The state of one node. Durations are in milliseconds; rates are those of the last full second. */
export interface NodeStatus {
  name: string;
  version: string;
  nodeVersion: string;
  /** In milliseconds since 1970. */
  startedAt: number;
  connections: number;
  subscriptions: number;
  roomsFollowed: number;
  operationsPerSecond: number;
  deliveriesPerSecond: number;
  failedOperationsPerSecond: number;
  lagMs: number;
  slowConsumers: number;
  queues: QueueDepth[];
  memoryBytes: number;
  eventLoopLagMs: number;
}

export interface QueueDepth {
  name: string;
  depth: number;
}

/** The number of operations that were answered with this code first. */
export interface ErrorCount {
  code: string;
  count: number;
  /** In milliseconds since 1970. */
  lastAt: number | null;
}

export interface RoomFollowers {
  roomId: string;
  followers: number;
}

/** What one node contributes to the state of the server. */
export interface NodeReport {
  status: NodeStatus;
  errors: ErrorCount[];
  /** The rooms with the most subscriptions on this node, at most 100. */
  rooms: RoomFollowers[];
}

/** This node, as the inventory sees it. */
export interface LocalNode {
  readonly name: string;
  readReport(): NodeReport;
  findClients(question: ClientQuestion): ClientsAnswer;
  /** Ends a connection, and returns it as it was; undefined if this node does not have it. */
  endClient(id: string): Client | undefined;
}
