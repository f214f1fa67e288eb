import { find, setText } from './elements.ts';
import { formatBytes, formatDuration, formatMs, formatNumber, formatTime } from './format.ts';
import { History } from './history.ts';
import type { NodeStatus, Status } from './operations.ts';
import { Plots } from './plots.ts';
import { Table } from './table.ts';

type NodeRow = NodeStatus & { uptime: string };

/** The status of the server: its parts, plots, nodes, rooms and errors. */
export class StatusView {
  readonly #database = find('database', HTMLElement);
  readonly #bus = find('bus', HTMLElement);
  readonly #perNode = find('per-node', HTMLInputElement);
  readonly #history = new History();
  readonly #plots = new Plots(find('plots', HTMLElement), () => this.#draw());
  readonly #nodes = createNodeTable();
  readonly #rooms = new Table<Status['mostFollowedRooms'][number]>(find('rooms', HTMLTableElement), {
    columns: [
      { title: 'Room', text: ({ room }) => room?.name ?? 'unknown' },
      { title: 'Followers', text: ({ followers }) => formatNumber(followers), isNumber: true },
    ],
    keyOf: ({ room }, index) => room?.id ?? `unknown ${index}`,
  });
  readonly #errors = new Table<Status['errors'][number]>(find('errors', HTMLTableElement), {
    columns: [
      { title: 'Code', text: ({ code }) => code },
      { title: 'Operations', text: ({ count }) => formatNumber(count), isNumber: true },
      { title: 'Last', text: ({ lastAt }) => (lastAt === null ? '–' : formatTime(lastAt)) },
    ],
    keyOf: ({ code }) => code,
  });

  constructor() {
    this.#perNode.addEventListener('change', () => this.#draw());
  }

  show(status: Status): void {
    const { database, bus, time } = status;
    showPart(this.#database, `${database.kind} ${database.version}`, database.isUp);
    showPart(this.#bus, bus.kind, bus.isUp);
    this.#nodes.show(status.nodes.map((node) => ({ ...node, uptime: formatDuration(node.startedAt, time) })));
    this.#rooms.show(status.mostFollowedRooms);
    this.#errors.show(status.errors);
    this.#history.add(status);
    this.#draw();
  }

  /** Removes everything that the server sent. */
  clear(): void {
    for (const table of [this.#nodes, this.#rooms, this.#errors]) table.show([]);
    for (const part of [this.#database, this.#bus]) setText(part, '');
    this.#history.clear();
    this.#draw();
  }

  #draw(): void {
    this.#plots.show(this.#history, this.#perNode.checked);
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
      { title: 'Memory', text: ({ memoryBytes }) => formatBytes(memoryBytes), isNumber: true },
      { title: 'Event loop', text: ({ eventLoopLagMs }) => formatMs(eventLoopLagMs), isNumber: true },
      { title: 'Connections', text: ({ connections }) => formatNumber(connections), isNumber: true },
      { title: 'Subscriptions', text: ({ subscriptions }) => formatNumber(subscriptions), isNumber: true },
      { title: 'Rooms', text: ({ roomsFollowed }) => formatNumber(roomsFollowed), isNumber: true },
      {
        title: 'Operations per s',
        text: ({ operationsPerSecond }) => formatNumber(operationsPerSecond),
        isNumber: true,
      },
      { title: 'Failed per s', text: (node) => formatNumber(node.failedOperationsPerSecond), isNumber: true },
      {
        title: 'Deliveries per s',
        text: ({ deliveriesPerSecond }) => formatNumber(deliveriesPerSecond),
        isNumber: true,
      },
      { title: 'Lag', text: ({ lagMs }) => formatMs(lagMs), isNumber: true },
      { title: 'Slow consumers', text: ({ slowConsumers }) => formatNumber(slowConsumers), isNumber: true },
      {
        title: 'Queues',
        text: ({ queues }) => listQueues(queues) || 'empty',
      },
    ],
    keyOf: ({ name }) => name,
  });
}

function listQueues(queues: NodeStatus['queues']): string {
  const used = queues.filter(({ depth }) => depth > 0);
  return used.map(({ name, depth }) => `${name} ${formatNumber(depth)}`).join(', ');
}
