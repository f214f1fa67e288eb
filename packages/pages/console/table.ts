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

/** The rows of a table. A row with the same key keeps its element, and so its focus. */
export class Table<Row> {
  readonly #body: HTMLTableSectionElement;
  readonly #options: TableOptions<Row>;
  /** By key. */
  #rows = new Map<string, Row>();
  readonly #elements = new Map<string, HTMLTableRowElement>();

  constructor(table: HTMLTableElement, options: TableOptions<Row>) {
    this.#options = options;
    const heads = options.columns.map((column) => markNumber(headOf('col', column.title), column));
    if (options.action) heads.push(headOf('col', options.action.title));
    const row = table.createTHead().insertRow();
    row.append(...heads);
    this.#body = table.createTBody();
  }

  show(rows: readonly Row[]): void {
    this.#rows = new Map(rows.map((row, index) => [this.#options.keyOf(row, index), row]));
    for (const [key, element] of this.#elements) {
      if (this.#rows.has(key)) continue;
      element.remove();
      this.#elements.delete(key);
    }
    for (const [index, [key, row]] of [...this.#rows].entries()) {
      const element = this.#elements.get(key) ?? this.#create(key);
      this.#update(element, row);
      const present = this.#body.rows[index];
      // An element that is moved loses its focus.
      if (present !== element) this.#body.insertBefore(element, present ?? null);
    }
  }

  #create(key: string): HTMLTableRowElement {
    const { columns, action } = this.#options;
    const element = document.createElement('tr');
    this.#elements.set(key, element);
    for (const [index, column] of columns.entries()) {
      element.append(markNumber(index === 0 ? headOf('row') : document.createElement('td'), column));
    }
    if (!action) return element;
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = action.title;
    button.addEventListener('click', () => {
      const row = this.#rows.get(key);
      if (row) action.run(row);
    });
    element.insertCell().append(button);
    return element;
  }

  #update(element: HTMLTableRowElement, row: Row): void {
    const { columns, action } = this.#options;
    for (const [index, { text }] of columns.entries()) {
      const cell = element.cells[index];
      if (cell) setText(cell, text(row));
    }
    if (action) element.querySelector('button')?.setAttribute('aria-label', action.label(row));
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
