import { setText } from './elements.ts';
import { formatNumber } from './format.ts';

export interface Column<Row> {
  title: string;
  text: (row: Row) => string;
  isNumber?: true;
  /** It needs the whole width of a card. */
  isLong?: true;
}

/** A column of numbers, which are aligned at the right. */
export function numbers<Row>(title: string, read: (row: Row) => number, format = formatNumber): Column<Row> {
  return { title, text: (row) => format(read(row)), isNumber: true };
}

/** A button in each row. Its `label`, for screen readers, names the row. */
interface RowAction<Row> {
  title: string;
  label: (row: Row) => string;
  run: (row: Row) => void;
}

interface TableOptions<Row> {
  columns: readonly Column<Row>[];
  keyOf: (row: Row, index: number) => string;
  actions?: readonly RowAction<Row>[];
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
    const { columns, actions = [] } = options;
    const heads = columns.map((column) => markColumn(headOf('col', column.title), column));
    if (actions.length > 0) heads.push(headOf('col', actions.length === 1 ? actions[0]?.title : 'Actions'));
    const head = table.createTHead();
    const row = head.insertRow();
    row.append(...heads);
    this.#body = table.createTBody();
    // Cards are no table for some screen readers, unless their elements have its roles.
    table.role = 'table';
    row.role = 'row';
    for (const group of [head, this.#body]) group.role = 'rowgroup';
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
    const { columns, actions = [] } = this.#options;
    const element = document.createElement('tr');
    element.role = 'row';
    this.#elements.set(key, element);
    element.append(
      ...columns.map((column, index) => (index === 0 ? markColumn(headOf('row'), column) : cellOf(column))),
    );
    if (actions.length > 0) element.append(this.#createButtons(key, actions));
    return element;
  }

  #createButtons(key: string, actions: readonly RowAction<Row>[]): HTMLTableCellElement {
    const cell = document.createElement('td');
    cell.role = 'cell';
    cell.className = 'actions';
    for (const { title, run } of actions) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = title;
      button.addEventListener('click', () => {
        const row = this.#rows.get(key);
        if (row) run(row);
      });
      cell.append(button);
    }
    return cell;
  }

  #update(element: HTMLTableRowElement, row: Row): void {
    const { columns, actions = [] } = this.#options;
    for (const [index, { text }] of columns.entries()) {
      const cell = element.cells[index];
      if (cell) setText(cell, text(row));
    }
    const buttons = element.querySelectorAll('button');
    for (const [index, { label }] of actions.entries()) buttons[index]?.setAttribute('aria-label', label(row));
  }
}

function headOf(scope: 'col' | 'row', title = ''): HTMLTableCellElement {
  const head = document.createElement('th');
  head.scope = scope;
  head.role = scope === 'col' ? 'columnheader' : 'rowheader';
  head.textContent = title;
  return head;
}

/** A narrow window shows the title beside the value, instead of the head of the column. */
function cellOf<Row>(column: Column<Row>): HTMLTableCellElement {
  const cell = document.createElement('td');
  cell.role = 'cell';
  cell.dataset['label'] = column.title;
  return markColumn(cell, column);
}

function markColumn<Row>(cell: HTMLTableCellElement, { isNumber, isLong }: Column<Row>): HTMLTableCellElement {
  if (isNumber) cell.className = 'number';
  if (isLong) cell.className = 'long';
  return cell;
}
