/**
 * An id may be used again as soon as the client has completed its operation, but that operation may still be unwinding:
 * graphql-ws, which knows an operation by its id alone, would take one for the other. The next of the same id waits.
 */
export class OperationOrder {
  readonly #active = new Map<string, Promise<void>>();
  readonly #unwinding = new Map<string, Promise<void>>();

  /** `begin` starts the operation, and resolves when it is over. */
  async subscribe(id: string, begin: () => Promise<void>): Promise<void> {
    const operation = this.#unwinding.get(id)?.then(begin) ?? begin();
    this.#active.set(id, operation);
    try {
      await operation;
    } finally {
      if (this.#active.get(id) === operation) this.#active.delete(id);
    }
  }

  /** `end` ends the operation, once it has begun. */
  async complete(id: string, end: () => Promise<void>): Promise<void> {
    const previous = this.#unwinding.get(id);
    const operation = this.#active.get(id);
    if (operation) {
      this.#active.delete(id);
      const unwound = operation.then(ignore, ignore).then(() => {
        if (this.#unwinding.get(id) === unwound) this.#unwinding.delete(id);
      });
      this.#unwinding.set(id, unwound);
    }
    // At once where it can be: what comes behind it counts on the room it makes.
    await (previous?.then(end) ?? end());
  }
}

function ignore(): void {}
