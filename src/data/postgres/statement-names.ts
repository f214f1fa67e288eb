const maxNames = 500;

/** The names under which statements are prepared, so that each is parsed once per connection. */
export class StatementNames {
  readonly #names = new Map<string, string>();
  /** Increases when a prepared statement no longer fits its tables: connections that were opened earlier are replaced. */
  generation = 0;

  /**
   * Undefined for a statement that is parsed each time: a connection never forgets a prepared statement, so their number
   * is limited; and a search needs a plan for its own text, because that for a rare text differs from that for a common
   * one.
   */
  nameOf(sql: string): string | undefined {
    const known = this.#names.get(sql);
    if (known !== undefined) return known;
    if (this.#names.size >= maxNames || sql.includes(' like ')) return undefined;
    const name = `s${this.#names.size}`;
    this.#names.set(sql, name);
    return name;
  }
}
