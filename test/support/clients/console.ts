import axe from 'axe-core';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Person, Postroom } from '../server/postroom.ts';

/** Drives the console for operators through its user interface. */
export class Console {
  readonly page: Page;
  /** The URLs of all requests of the page. */
  readonly requested: string[] = [];
  /** Uncaught errors, and messages that the browser shows as errors, such as violations of the policy. */
  readonly faults: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.context().on('request', (request) => this.requested.push(request.url()));
    page.on('websocket', (socket) => this.requested.push(socket.url()));
    page.on('pageerror', (error) => this.faults.push(String(error)));
    page.on('console', (message) => {
      // Answers that are refused, and a server that is restarted.
      const isOfRequest = /^(Failed to load resource|WebSocket connection to )/.test(message.text());
      if (message.type() === 'error' && !isOfRequest) this.faults.push(message.text());
    });
  }

  /** Opens the console in a new page of the context. */
  static async open(context: BrowserContext, { url }: Postroom): Promise<Console> {
    const opened = new Console(await context.newPage());
    await opened.page.goto(`${url}/console`);
    return opened;
  }

  async signIn({ email, password }: Pick<Person, 'email' | 'password'>): Promise<void> {
    await this.page.getByLabel('E-mail').fill(email);
    await this.page.getByLabel('Password').fill(password);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
  }

  /** `search`: the name of the form that has the button, if several have one with this name. */
  async press(button: string, search?: string): Promise<void> {
    const within = search === undefined ? this.page : this.page.getByRole('search', { name: search });
    await within.getByRole('button', { name: button, exact: true }).click();
  }

  /** Waits until the page says whether it is live. */
  async isIn(state: string): Promise<void> {
    await this.page
      .locator('#state')
      .and(this.page.getByText(state, { exact: true }))
      .waitFor();
  }

  /** What the page says about the health of the server. */
  async health(): Promise<string> {
    return (await this.page.locator('#health').textContent()) ?? '';
  }

  /** Waits until the form for signing in is shown, with this message. */
  async asksToSignIn(message: string): Promise<void> {
    await expect.poll(() => this.page.getByRole('alert').textContent()).toBe(message);
    expect(await this.page.getByRole('button', { name: 'Sign in' }).isVisible()).toBe(true);
    expect(await this.page.locator('#status').isVisible()).toBe(false);
  }

  /** The rows of a table whose first cell has this text. */
  rows(
    table: 'nodes' | 'rooms' | 'errors' | 'connections' | `load-${string}` | 'refusals' | `found-${string}`,
    name: string,
  ): Locator {
    return this.page
      .locator(`#${table} tbody tr`)
      .filter({ has: this.page.getByRole('rowheader', { name, exact: true }) });
  }

  /** Searches for what can be moderated. */
  async find(kind: 'Users' | 'Rooms' | 'Posts', text: string): Promise<void> {
    await this.page.getByLabel('Find', { exact: true }).selectOption(kind);
    await this.page.getByLabel('Name, title or id').fill(text);
    await this.press('Find');
  }

  /** Waits until a status of the page is this text. */
  async announces(text: string): Promise<void> {
    await this.page
      .getByRole('status')
      .and(this.page.getByText(text, { exact: true }))
      .waitFor();
  }

  /** The latest value that a plot shows as text. */
  async latest(plot: string): Promise<number> {
    const text = await this.#figure(plot).locator('output').textContent();
    return Number(text?.replaceAll(',', ''));
  }

  /** The height of the line of a plot, as a part of its canvas. */
  async heightOf(plot: string): Promise<number> {
    const { rows, height } = await this.#lineOf(plot);
    return rows.length === 0 ? 0 : (Math.max(...rows) - Math.min(...rows)) / height;
  }

  /** The width of the widest gap in the line of a plot, as a part of its canvas. */
  async widestGapOf(plot: string): Promise<number> {
    const { columns, width } = await this.#lineOf(plot);
    return Math.max(0, ...columns.slice(1).map((column, index) => column - (columns[index] ?? 0))) / width;
  }

  /** The names in the legend of a plot. */
  async legend(plot: string): Promise<string[]> {
    return this.#figure(plot).locator('.u-legend .u-label').allTextContents();
  }

  /** The session that the browser stores for the tab. */
  stored(): Promise<{ token: string } | null> {
    return this.page.evaluate(() => JSON.parse(sessionStorage.getItem('postroom:console') ?? 'null'));
  }

  /** The history of the plots that the browser stores for the tab when the page is left. */
  storedHistory(): Promise<{ time: number; nodes?: object[] }[] | null> {
    return this.page.evaluate(() => JSON.parse(sessionStorage.getItem('postroom:console:history') ?? 'null'));
  }

  /** The rules of axe-core that the page violates. */
  async violations(): Promise<string[]> {
    await this.page.evaluate(axe.source);
    return this.page.evaluate('axe.run().then(({ violations }) => violations.map(({ help }) => help))');
  }

  /** The number of pixels by which the page is wider than its window. */
  overflow(): Promise<number> {
    return this.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  }

  /** Asserts that the page requested nothing of other servers, and that nothing failed in it. */
  expectNoFault({ url }: Postroom): void {
    const { host } = new URL(url);
    const own = [`http://${host}/console`, `http://${host}/graphql`, `ws://${host}/graphql`];
    expect(this.requested.filter((requested) => !own.includes(requested))).toEqual([]);
    expect(this.faults).toEqual([]);
  }

  /** The rows and columns of the canvas of a plot that contain its line, ascending. */
  #lineOf(plot: string) {
    return this.#figure(plot)
      .locator('canvas')
      .evaluate((element) => {
        if (!(element instanceof HTMLCanvasElement)) throw new Error('It is not a canvas.');
        const { width, height } = element;
        const { data = [] } = element.getContext('2d')?.getImageData(0, 0, width, height) ?? {};
        const [rows, columns] = [new Set<number>(), new Set<number>()];
        // The line is the only thing in colour.
        for (let at = 0; at < data.length; at += 4) {
          const [red = 0, green = 0, blue = 0, alpha = 0] = data.slice(at, at + 4);
          const isColour = Math.max(red, green, blue) - Math.min(red, green, blue) > 80;
          if (alpha <= 128 || !isColour) continue;
          rows.add(Math.floor(at / 4 / width));
          columns.add((at / 4) % width);
        }
        const sorted = (values: Set<number>) => [...values].sort((one, other) => one - other);
        return { width, height, rows: sorted(rows), columns: sorted(columns) };
      });
  }

  #figure(plot: string): Locator {
    return this.page.locator('figure', { hasText: plot });
  }
}
