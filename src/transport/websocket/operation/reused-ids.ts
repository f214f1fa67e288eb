/**
 * A client may reuse an id as soon as it has completed the operation, but that operation may still be unwinding.
 * graphql-ws identifies an operation by its id alone and would confuse the two, so the next operation with the same id
 * waits.
 */
export class ReusedIds {
  readonly #active = new Map<string, Promise<void>>();
  readonly #unwinding = new Map<string, Promise<void>>();

  /** `begin` starts the operation; its promise resolves when the operation is over. */
  async subscribe(id: string, begin: () => Promise<void>): Promise<void> {
    const operation = this.#unwinding.get(id)?.then(begin) ?? begin();
    this.#active.set(id, operation);
    try {
      await operation;
    } finally {
      if (this.#active.get(id) === operation) this.#active.delete(id);
    }
  }

  /** `end` ends the operation; it is called after an earlier operation with this id has unwound. */
  async complete(id: string, end: () => Promise<void>): Promise<void> {
    const previous = this.#unwinding.get(id);
    const operation = this.#active.get(id);
    if (operation) {
      this.#active.delete(id);
      const remove = () => {
        if (this.#unwinding.get(id) === unwound) this.#unwinding.delete(id);
      };
      const unwound = operation.then(remove, remove);
      this.#unwinding.set(id, unwound);
    }
    // Without delay where possible: the next message may need the subscription slot that this one frees.
    await (previous?.then(end) ?? end());
  }
}
