import { find, setText } from './elements.ts';
import { formatBytes, formatDuration, formatMs, formatNumber, formatTime } from './format.ts';
import { findReasons } from './health.ts';
import { History } from './history.ts';
import type { NodeStatus, Status } from './operations.ts';
import { createPlots } from './plots.ts';
import { readStoredHistory, storeHistory } from './stored-history.ts';
import { numbers, Table } from './table.ts';

type NodeRow = NodeStatus & { uptime: string };

/** The status of the server: its health, parts, plots, nodes, rooms and errors. */
export class StatusView {
  readonly #health = find('health', HTMLElement);
  readonly #database = find('database', HTMLElement);
  readonly #bus = find('bus', HTMLElement);
  readonly #total = find('total', HTMLElement);
  readonly #perNode = find('per-node', HTMLInputElement);
  readonly #history = new History(readStoredHistory());
  readonly #plots = createPlots(find('plots', HTMLElement), () => this.#draw());
  readonly #nodes = createNodeTable();
  readonly #rooms = new Table<Status['mostFollowedRooms'][number]>(find('rooms', HTMLTableElement), {
    columns: [
      { title: 'Room', text: ({ room }) => room?.name ?? 'unknown' },
      numbers('Followers', (room) => room.followers),
    ],
    keyOf: ({ room }, index) => room?.id ?? `unknown ${index}`,
  });
  readonly #errors = new Table<Status['errors'][number]>(find('errors', HTMLTableElement), {
    columns: [
      { title: 'Code', text: ({ code }) => code },
      numbers('Operations', (error) => error.count),
      { title: 'Last', text: ({ lastAt }) => (lastAt === null ? '–' : formatTime(lastAt)) },
    ],
    keyOf: ({ code }) => code,
  });

  constructor() {
    this.#perNode.addEventListener('change', () => this.#draw());
    addEventListener('pagehide', () => storeHistory(this.#history.samples));
  }

  show(status: Status): void {
    const { database, bus, time } = status;
    this.#showHealth(findReasons(status));
    showPart(this.#database, `${database.kind} ${database.version}`, database.isUp);
    showPart(this.#bus, bus.kind, bus.isUp);
    setText(this.#total, formatNumber(status.nodes.reduce((total, { connections }) => total + connections, 0)));
    this.#nodes.show(status.nodes.map((node) => ({ ...node, uptime: formatDuration(node.startedAt, time) })));
    this.#rooms.show(status.mostFollowedRooms);
    this.#errors.show(status.errors);
    this.#history.add(status);
    this.#draw();
  }

  /** The server may have changed since the status that is shown. */
  markOld(): void {
    setText(this.#health, 'Unknown: the page is not connected');
    this.#health.className = '';
    this.#draw();
  }

  /** Removes everything that the server sent. */
  clear(): void {
    setText(this.#health, '');
    for (const table of [this.#nodes, this.#rooms, this.#errors]) table.show([]);
    for (const part of [this.#database, this.#bus, this.#total]) setText(part, '');
    this.#history.clear();
    storeHistory([]);
    this.#draw();
  }

  #showHealth(reasons: readonly string[]): void {
    const isHealthy = reasons.length === 0;
    setText(this.#health, isHealthy ? 'Healthy' : `Degraded: ${reasons.join('; ')}`);
    this.#health.className = isHealthy ? 'healthy' : 'degraded';
  }

  #draw(): void {
    for (const plot of this.#plots) plot.show(this.#history, this.#perNode.checked);
  }
}

function showPart(element: HTMLElement, name: string, isUp: boolean): void {
  setText(element, `${name}, ${isUp ? 'up' : 'down'}`);
  element.classList.toggle('down', !isUp);
}

function createNodeTable(): Table<NodeRow> {
  return new Table(find('nodes', HTMLTableElement), {
    columns: [
      { title: 'Node', text: ({ name }) => name },
      { title: 'Version', text: ({ version, nodeVersion }) => `${version}, Node ${nodeVersion.replace(/^v/, '')}` },
      { title: 'Up for', text: ({ uptime }) => uptime, isNumber: true },
      numbers('Memory', (node) => node.memoryBytes, formatBytes),
      numbers('Event loop', (node) => node.eventLoopLagMs, formatMs),
      numbers('Connections', (node) => node.connections),
      numbers('Subscriptions', (node) => node.subscriptions),
      numbers('Rooms', (node) => node.roomsFollowed),
      numbers('Operations per s', (node) => node.operationsPerSecond),
      numbers('Failed per s', (node) => node.failedOperationsPerSecond),
      numbers('Deliveries per s', (node) => node.deliveriesPerSecond),
      numbers('Lag', (node) => node.lagMs, formatMs),
      numbers('Slow consumers', (node) => node.slowConsumers),
      { title: 'Queues', text: ({ queues }) => listQueues(queues) || 'empty' },
    ],
    keyOf: ({ name }) => name,
  });
}

function listQueues(queues: NodeStatus['queues']): string {
  const used = queues.filter(({ depth }) => depth > 0);
  return used.map(({ name, depth }) => `${name} ${formatNumber(depth)}`).join(', ');
}
