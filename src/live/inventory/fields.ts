import type { Client } from './client.ts';
import type { ErrorCount, NodeStatus, QueueDepth, RoomFollowers } from './node-report.ts';
import type { ServerStatus } from './server-status.ts';

/** The properties that are fields of the schema without a resolver. */
export const inventoryFields = {
  ClientConnection: ['edges', 'nodes', 'pageInfo', 'total'],
  ClientEdge: ['cursor', 'node'],
  Client: ['id', 'address', 'since', 'node', 'subscriptions', 'bytesWaiting', 'lagMs'] satisfies (keyof Client)[],
  ServerStatus: ['time', 'nodes', 'database', 'bus', 'mostFollowedRooms', 'errors'] satisfies (keyof ServerStatus)[],
  NodeStatus: [
    'name',
    'version',
    'nodeVersion',
    'startedAt',
    'connections',
    'subscriptions',
    'roomsFollowed',
    'operationsPerSecond',
    'deliveriesPerSecond',
    'failedOperationsPerSecond',
    'lagMs',
    'slowConsumers',
    'queues',
    'memoryBytes',
    'eventLoopLagMs',
  ] satisfies (keyof NodeStatus)[],
  QueueDepth: ['name', 'depth'] satisfies (keyof QueueDepth)[],
  DatabaseStatus: ['kind', 'version', 'isUp'] satisfies (keyof ServerStatus['database'])[],
  BusStatus: ['kind', 'isUp'] satisfies (keyof ServerStatus['bus'])[],
  RoomFollowers: ['followers'] satisfies (keyof RoomFollowers)[],
  ErrorCount: ['code', 'count', 'lastAt'] satisfies (keyof ErrorCount)[],
};
