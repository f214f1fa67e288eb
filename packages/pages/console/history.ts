import type { NodeStatus, Status } from './operations.ts';

/** The part of a node's status that the plots show. */
type PlottedNode = Pick<NodeStatus, 'name' | 'operationsPerSecond' | 'deliveriesPerSecond' | 'lagMs'>;

export const shownSeconds = 300;
/** After a longer time without a status, a plot shows a gap. */
const maxGapSeconds = 3;

export interface Sample {
  /** Seconds since 1970, by the clock of the server. */
  time: number;
  /** Absent in a gap. */
  nodes?: readonly PlottedNode[];
}

/** What a plot shows of a node, and of all nodes together. */
export interface Measure {
  read: (node: PlottedNode) => number;
  combine: (values: readonly number[]) => number;
}

export interface Series {
  names: string[];
  times: number[];
  /** The values of each name, in the order of the times. */
  values: (number | null)[][];
}

/** The statuses of the last five minutes. */
export class History {
  #samples: Sample[];

  constructor(samples: readonly Sample[] = []) {
    this.#samples = [...samples];
  }

  get samples(): readonly Sample[] {
    return this.#samples;
  }

  add({ time: iso, nodes }: Status): void {
    const time = Date.parse(iso) / 1_000;
    const latest = this.#samples.at(-1)?.time ?? time;
    // A clock that was set back: a plot cannot show times in another order.
    if (time < latest) this.clear();
    if (time > latest + maxGapSeconds) this.#samples.push({ time: latest + 1 });
    this.#samples.push({ time, nodes: nodes.map(toPlotted) });
    this.#samples = this.#samples.filter((sample) => sample.time >= time - shownSeconds);
  }

  clear(): void {
    this.#samples = [];
  }

  /** One series for each node, by name. */
  ofNodes({ read }: Measure): Series {
    const names = [...new Set(this.#samples.flatMap(({ nodes = [] }) => nodes.map(({ name }) => name)))].sort();
    const values = names.map((name) =>
      this.#samples.map(({ nodes }) => {
        const node = nodes?.find((candidate) => candidate.name === name);
        return node ? read(node) : null;
      }),
    );
    return { names, times: this.#times(), values };
  }

  ofAll({ read, combine }: Measure): Series {
    const values = this.#samples.map(({ nodes }) => (nodes ? combine(nodes.map(read)) : null));
    return { names: ['all nodes'], times: this.#times(), values: [values] };
  }

  #times(): number[] {
    return this.#samples.map(({ time }) => time);
  }
}

function toPlotted({ name, operationsPerSecond, deliveriesPerSecond, lagMs }: NodeStatus): PlottedNode {
  return { name, operationsPerSecond, deliveriesPerSecond, lagMs };
}
