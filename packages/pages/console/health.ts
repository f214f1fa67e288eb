import type { NodeStatus, Status } from './operations.ts';

/** The thresholds of the alerts in docs/metrics.md. docs/operations.md names the alert of each reason. */
const maxEventLoopLagMs = 100;
const maxDeliveryLagMs = 1_000;
const maxSlowShare = 0.1;
const faultCodes = ['INTERNAL_SERVER_ERROR', 'OUTCOME_UNKNOWN'];
const faultWindowMs = 5 * 60_000;

/** Thresholds without an alert. A few failed operations are the faults of single clients. */
const maxFailedShare = 0.1;
const minFailedPerSecond = 5;
const maxQueueDepth = 100;

const list = new Intl.ListFormat('en-GB');

/** Why the server is degraded; empty if it is healthy. A reason has no changing numbers: each change is announced. */
export function findReasons(status: Status): string[] {
  return [...ofParts(status), ...ofAllNodes(status), ...ofSingleNodes(status)];
}

function ofParts({ database, bus }: Status): string[] {
  return [...when(!database.isUp, 'the database is down'), ...when(!bus.isUp, 'the bus is down')];
}

function ofAllNodes({ nodes, errors, time }: Status): string[] {
  const sum = (read: (node: NodeStatus) => number) => nodes.reduce((total, node) => total + read(node), 0);
  const failed = sum((node) => node.failedOperationsPerSecond);
  const isFailing = failed >= minFailedPerSecond && failed > maxFailedShare * sum((node) => node.operationsPerSecond);
  const areSlow = sum((node) => node.slowConsumers) > maxSlowShare * sum((node) => node.subscriptions);
  const since = Date.parse(time) - faultWindowMs;
  const hasFault = errors.some(({ code, lastAt }) => faultCodes.includes(code) && Date.parse(lastAt ?? '') > since);
  const versions = [...new Set(nodes.map(({ version }) => version))];
  return [
    ...when(hasFault, 'an operation failed in the last five minutes because of the server'),
    ...when(isFailing, 'more than 10 % of all operations fail'),
    ...when(areSlow, 'more than 10 % of all subscriptions have slow consumers'),
    ...when(versions.length > 1, `the nodes have different versions: ${list.format(versions)}`),
  ];
}

function ofSingleNodes({ nodes }: Status): string[] {
  const where = (text: string, isDegraded: (node: NodeStatus) => boolean) => {
    const names = nodes.filter(isDegraded).map(({ name }) => name);
    return when(names.length > 0, `${text} on ${list.format(names)}`);
  };
  return [
    ...where('the event loop is delayed by more than 100 ms', (node) => node.eventLoopLagMs > maxEventLoopLagMs),
    ...where('events are delivered more than 1 s late', (node) => node.lagMs > maxDeliveryLagMs),
    ...where('a queue has more than 100 entries', ({ queues }) => queues.some(({ depth }) => depth > maxQueueDepth)),
  ];
}

function when(isDegraded: boolean, reason: string): string[] {
  return isDegraded ? [reason] : [];
}
