import { expect, it } from 'vitest';
import { findReasons } from '../../packages/pages/console/health.ts';
import type { NodeStatus, Status } from '../../packages/pages/console/operations.ts';

const time = '2026-11-28T12:00:00.000Z';

function nodeStatus(changes: Partial<NodeStatus> = {}): NodeStatus {
  return {
    name: 'north',
    version: '1.0.0',
    nodeVersion: 'v24.0.0',
    startedAt: time,
    connections: 10,
    subscriptions: 100,
    roomsFollowed: 5,
    operationsPerSecond: 100,
    deliveriesPerSecond: 50,
    failedOperationsPerSecond: 10,
    lagMs: 1_000,
    slowConsumers: 10,
    queues: [{ name: 'transactions', depth: 100 }],
    memoryBytes: 1,
    eventLoopLagMs: 100,
    ...changes,
  };
}

function status(changes: Partial<Status> = {}): Status {
  const database = { kind: 'sqlite', version: '3', isUp: true };
  return {
    time,
    nodes: [nodeStatus()],
    database,
    bus: { kind: 'memory', isUp: true },
    mostFollowedRooms: [],
    errors: [],
    ...changes,
  };
}

const withNode = (changes: Partial<NodeStatus>) => status({ nodes: [nodeStatus(changes)] });
const withFault = (lastAt: string) => status({ errors: [{ code: 'INTERNAL_SERVER_ERROR', count: 1, lastAt }] });

it.each([
  ['whose values are those of the thresholds', status()],
  ['without nodes', status({ nodes: [] })],
  ['with a single failed operation', withNode({ operationsPerSecond: 2, failedOperationsPerSecond: 1 })],
  ['whose last fault was five minutes ago', withFault('2026-11-28T11:55:00.000Z')],
  ['that refused operations', status({ errors: [{ code: 'FORBIDDEN', count: 9, lastAt: time }] })],
])('a server %s is healthy', (_, healthy) => {
  expect(findReasons(healthy)).toEqual([]);
});

it.each([
  ['the database is down', status({ database: { kind: 'sqlite', version: '3', isUp: false } })],
  ['the bus is down', status({ bus: { kind: 'redis', isUp: false } })],
  ['an operation failed in the last five minutes because of the server', withFault('2026-11-28T11:55:01.000Z')],
  ['more than 10 % of all operations fail', withNode({ failedOperationsPerSecond: 11 })],
  ['more than 10 % of all subscriptions have slow consumers', withNode({ slowConsumers: 11 })],
  [
    'the nodes have different versions: 1.0.0 and 1.1.0',
    status({ nodes: [nodeStatus(), nodeStatus({ name: 'south', version: '1.1.0' })] }),
  ],
  ['the event loop is delayed by more than 100 ms on north', withNode({ eventLoopLagMs: 101 })],
  ['events are delivered more than 1 s late on north', withNode({ lagMs: 1_001 })],
  ['a queue has more than 100 entries on north', withNode({ queues: [{ name: 'bus', depth: 101 }] })],
])('a server is degraded if %s', (reason, degraded) => {
  expect(findReasons(degraded)).toEqual([reason]);
});
