/** Receives the values that its parts wait for. */
interface Parent {
  /** Called at most once for each key. */
  settle(key: string | number, value: unknown): void;
  reject(error: unknown): void;
}

/**
 * A value that depends on a promise of a resolver. Unlike a promise it has a single listener, its parent, which is
 * notified at once and without a closure: for a page of posts with authors, promises at every level took a fifth of the
 * time. It never settles in the turn of its creation, and without a parent its outcome is ignored.
 */
export class Pending<Value = unknown> {
  #parent: Parent | undefined;
  #key: string | number = '';
  #recover: ((error: unknown) => unknown) | undefined;

  attach(parent: Parent | undefined, key: string | number): void {
    this.#parent = parent;
    this.#key = key;
  }

  /** An error becomes the value that `recover` returns, or the error that it throws. */
  recoverWith(recover: (error: unknown) => unknown): this {
    this.#recover = recover;
    return this;
  }

  /** `value` may itself be pending; then it takes the place of this one. */
  resolve(value: unknown): void {
    if (value instanceof Pending) value.attach(this.#parent, this.#key);
    else this.#parent?.settle(this.#key, value);
  }

  reject(error: unknown): void {
    if (!this.#recover) return this.#parent?.reject(error);
    let value: unknown;
    try {
      value = this.#recover(error);
    } catch (unrecovered) {
      return this.#parent?.reject(unrecovered);
    }
    this.resolve(value);
  }

  toPromise(): Promise<Value> {
    return new Promise((resolve, reject) => this.attach({ settle: (_, value) => resolve(value as Value), reject }, ''));
  }
}

/** An object or an array with pending values, each of which is replaced when it settles. The first error rejects it. */
export class PendingValues<Values extends object> extends Pending<Values> implements Parent {
  readonly #values: Values;
  #count = 0;
  #isRejected = false;

  constructor(values: Values) {
    super();
    this.#values = values;
  }

  waitFor(key: keyof Values & (string | number), value: Pending): void {
    this.#count += 1;
    value.attach(this, key);
  }

  settle(key: string | number, value: unknown): void {
    (this.#values as Record<string | number, unknown>)[key] = value;
    this.#count -= 1;
    if (this.#count === 0 && !this.#isRejected) this.resolve(this.#values);
  }

  override reject(error: unknown): void {
    if (this.#isRejected) return;
    this.#isRejected = true;
    super.reject(error);
  }
}
