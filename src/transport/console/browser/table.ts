import { setText } from './elements.ts';
import { formatNumber } from './format.ts';

interface Column<Row> {
  title: string;
  text: (row: Row) => string;
  isNumber?: true;
}

/** A column of numbers, which are aligned at the right. */
export function numbers<Row>(title: string, read: (row: Row) => number, format = formatNumber): Column<Row> {
  return { title, text: (row) => format(read(row)), isNumber: true };
}

interface TableOptions<Row> {
  columns: readonly Column<Row>[];
  keyOf: (row: Row, index: number) => string;
  /** A button in each row. Its `label`, for screen readers, names the row. */
  action?: { title: string; label: (row: Row) => string; run: (row: Row) => void };
}

interface Shown<Row> {
  row: Row;
  element: HTMLTableRowElement;
  cells: Element[];
  button: HTMLButtonElement | undefined;
}

/** The rows of a table. A row with the same key keeps its element, and so its focus. */
export class Table<Row> {
  readonly #body: HTMLTableSectionElement;
  readonly #options: TableOptions<Row>;
  #shown = new Map<string, Shown<Row>>();

  constructor(table: HTMLTableElement, options: TableOptions<Row>) {
    this.#options = options;
    const heads = options.columns.map((column) => markNumber(headOf('col', column.title), column));
    if (options.action) heads.push(headOf('col', options.action.title));
    table
      .createTHead()
      .insertRow()
      .append(...heads);
    this.#body = table.createTBody();
  }

  show(rows: readonly Row[]): void {
    const previous = this.#shown;
    this.#shown = new Map(
      rows.map((row, index) => {
        const key = this.#options.keyOf(row, index);
        return [key, this.#update(previous.get(key) ?? this.#create(row), row)];
      }),
    );
    for (const [key, { element }] of previous) if (!this.#shown.has(key)) element.remove();
    let index = 0;
    for (const { element } of this.#shown.values()) {
      const present = this.#body.rows[index];
      // An element that is moved loses its focus.
      if (present !== element) this.#body.insertBefore(element, present ?? null);
      index += 1;
    }
  }

  #create(row: Row): Shown<Row> {
    const element = document.createElement('tr');
    const cells = this.#options.columns.map((column, index) =>
      markNumber(index === 0 ? headOf('row') : document.createElement('td'), column),
    );
    element.append(...cells);
    const shown: Shown<Row> = { row, element, cells, button: undefined };
    const { action } = this.#options;
    if (action) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = action.title;
      button.addEventListener('click', () => action.run(shown.row));
      element.insertCell().append(button);
      shown.button = button;
    }
    return shown;
  }

  #update(shown: Shown<Row>, row: Row): Shown<Row> {
    shown.row = row;
    const { columns, action } = this.#options;
    for (const [index, { text }] of columns.entries()) {
      const cell = shown.cells[index];
      if (cell) setText(cell, text(row));
    }
    if (action) shown.button?.setAttribute('aria-label', action.label(row));
    return shown;
  }
}

function headOf(scope: 'col' | 'row', title = ''): HTMLTableCellElement {
  const head = document.createElement('th');
  head.scope = scope;
  head.textContent = title;
  return head;
}

function markNumber<Row>(cell: HTMLTableCellElement, { isNumber }: Column<Row>): HTMLTableCellElement {
  if (isNumber) cell.className = 'number';
  return cell;
}
