const maxNames = 500;
const plannedEachTime = / like | in \(values /;

/** The names under which statements are prepared, so that each is parsed once per connection. */
export class StatementNames {
  readonly #names = new Map<string, string>();
  /** Increases when a prepared statement no longer fits its tables: connections that were opened earlier are replaced. */
  generation = 0;

  /**
   * Undefined for a statement that is parsed and planned each time: a connection never forgets a prepared statement, so
   * their number is limited. A search needs a plan for its own text, because that for a rare text differs from that for a
   * common one. A join with a list of values needs a plan for the present size of the table: an import begins with an
   * empty one, and would continue to read all of it.
   */
  nameOf(sql: string): string | undefined {
    const known = this.#names.get(sql);
    if (known !== undefined) return known;
    if (this.#names.size >= maxNames || plannedEachTime.test(sql)) return undefined;
    const name = `s${this.#names.size}`;
    this.#names.set(sql, name);
    return name;
  }
}
