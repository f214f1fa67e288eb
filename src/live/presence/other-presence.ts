import type { PresencePage } from '../bus/bus.ts';
import { maxLeaseMs } from './own-reports.ts';
import type { PresencePart } from './presence-state.ts';

const maxTypingMs = 5_000;

/** The presence in a room on another node. */
interface ReportedNode {
  /** By index. */
  pages: Map<number, PresencePart & { number: number; pageCount: number }>;
  lease?: NodeJS.Timeout;
  typingEnd?: NodeJS.Timeout;
}

/** The viewers of a room that are present through other nodes. Calls `onChange` after each change. */
export class OtherPresence {
  readonly #nodes = new Map<string, ReportedNode>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** The pages of all nodes. */
  *pages(): Generator<PresencePart> {
    for (const { pages } of this.#nodes.values()) {
      const { pageCount = 0 } = pages.get(0) ?? {};
      for (const [index, page] of pages) if (index < pageCount) yield page;
    }
  }

  receive({ node: id, index, leaseMs, users, ...page }: PresencePage): void {
    const node: ReportedNode = this.#nodes.get(id) ?? { pages: new Map() };
    // It is repeated or late.
    if (page.number <= (node.pages.get(index)?.number ?? 0)) return;
    const current = { ...page, users: new Set(users) };
    node.pages.set(index, current);
    if (index === 0) dropPages(node.pages, current);
    this.#nodes.set(id, node);
    clearTimeout(node.lease);
    // A node that reports a longer lease is not believed.
    node.lease = setTimeout(() => this.#forget(id), Math.min(maxLeaseMs, leaseMs)).unref();
    if (page.typing.length > 0) {
      clearTimeout(node.typingEnd);
      node.typingEnd = setTimeout(() => this.#endTyping(current), maxTypingMs).unref();
    }
    this.#onChange();
  }

  clear(): void {
    for (const { lease, typingEnd } of this.#nodes.values()) {
      clearTimeout(lease);
      clearTimeout(typingEnd);
    }
    this.#nodes.clear();
  }

  /** The node has not reported since that its users type. */
  #endTyping(page: PresencePart): void {
    page.typing = [];
    this.#onChange();
  }

  #forget(id: string): void {
    this.#nodes.delete(id);
    this.#onChange();
  }
}

/** Drops the pages that the node no longer had when it reported its first one. */
function dropPages(pages: ReportedNode['pages'], first: { number: number; pageCount: number }): void {
  for (const [index, { number }] of pages) if (index >= first.pageCount && number < first.number) pages.delete(index);
}
