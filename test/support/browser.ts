import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

const executablePath = '/usr/bin/chromium';

export const hasChromium = existsSync(executablePath);
/** Behind the title of what is skipped without it. */
export const chromiumNote = hasChromium ? '' : ` (skipped: there is no ${executablePath})`;

const quiet = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // What the browser would ask its maker of its own accord.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

/** With a profile of its own; the caller closes it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath, args: quiet });
}

/** A visitor who was never here, until the end of the test. The window is tall, so that an answer fits on it. */
export async function newVisitor(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 2_000 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  onTestFinished(() => context.close());
  return context;
}

const patience = { timeout: 20_000 };

type Editor = 'query' | 'variables' | 'headers';

/** GraphiQL as one sees and uses it. */
export class Graphiql {
  readonly page: Page;
  /** Everything the page asked for, its workers and sockets included. */
  readonly requested: string[] = [];
  /** What came over its WebSockets. */
  readonly received: string[] = [];
  /** How many of them could not be opened. */
  refused = 0;
  /** What went wrong in it: errors that nobody caught, and what the console shows as one. */
  readonly faults: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.context().on('request', (request) => this.requested.push(request.url()));
    page.on('websocket', (socket) => {
      this.requested.push(socket.url());
      socket.on('socketerror', () => {
        this.refused += 1;
      });
      socket.on('framereceived', ({ payload }) => this.received.push(String(payload)));
    });
    page.on('pageerror', (error) => this.faults.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') this.faults.push(message.text());
    });
  }

  /** Opens it in a new window of this visitor. */
  static async open(context: BrowserContext, url: string): Promise<Graphiql> {
    const graphiql = new Graphiql(await context.newPage());
    await graphiql.page.goto(url);
    await graphiql.ready();
    return graphiql;
  }

  /** The schema was read, so that the editors know it. */
  async ready(): Promise<void> {
    await this.page.locator('.graphiql-query-editor .view-lines').waitFor();
    await this.page.locator('.graphiql-spinner').waitFor({ state: 'detached' });
  }

  tabs(): Promise<string[]> {
    return this.page.locator('.graphiql-tab-button').allInnerTexts();
  }

  async choose(tab: string): Promise<void> {
    await this.page.locator('.graphiql-tab-button', { hasText: tab }).click();
    await this.#settled(tab);
  }

  async write(editor: Editor, text: string): Promise<void> {
    if (editor !== 'query') {
      await this.page
        .getByRole('button', { name: editor === 'headers' ? 'Headers' : 'Variables', exact: true })
        .click();
    }
    await this.page.locator(place(editor)).click();
    await this.page.keyboard.press('Control+A');
    // What is pasted stays as it is; what is typed has its brackets closed.
    await this.page.evaluate((pasted) => navigator.clipboard.writeText(pasted), text);
    await this.page.keyboard.press('Control+V');
    await expect.poll(() => this.read(editor), patience).toBe(text);
    const [, name] = /^(?:query|mutation|subscription) (\w+)/.exec(text) ?? [];
    if (name) await this.#settled(name);
  }

  /** What is seen of an editor. */
  read(editor: Editor): Promise<string> {
    return this.#text(place(editor));
  }

  /** Presses play, and chooses among several operations. */
  async play(operation?: string): Promise<void> {
    await this.page.locator('.graphiql-execute-button').click();
    if (operation) await this.page.getByRole('menuitem', { name: operation, exact: true }).click();
  }

  /** Waits until the result pane shows this, and returns all of the answer. */
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the operation's.
  async shows(expected: object): Promise<any> {
    let answer: unknown;
    const look = async () => {
      answer = parse(await this.#text('.result-window'));
      return answer;
    };
    await expect.poll(look, patience).toMatchObject(expected);
    return answer;
  }

  /** A subscription has gone live: the server said from where, which it does by a ping. */
  async live(): Promise<void> {
    await expect.poll(() => this.received.some((frame) => JSON.parse(frame).payload?.live), patience).toBeTruthy();
  }

  /** It has parsed what the editor shows, and put it down for its next start: play means this operation. */
  async #settled(operation: string): Promise<void> {
    await this.page.waitForFunction((name) => {
      const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('postroom:graphiql:tabState') ?? '{"tabs":[]}');
      return tabs[activeTabIndex]?.operationName === name;
    }, operation);
  }

  /** The editor places its lines where they belong, in any order. */
  #text(selector: string): Promise<string> {
    return this.page.locator(`${selector} .view-line`).evaluateAll((lines) =>
      lines
        .map((line) => ({ top: Number.parseFloat(line.style.top), text: line.textContent ?? '' }))
        .sort((one, other) => one.top - other.top)
        .map(({ text }) => text.replaceAll('\u00a0', ' '))
        .join('\n'),
    );
  }
}

function place(editor: Editor): string {
  return editor === 'query' ? '.graphiql-query-editor' : `.graphiql-editor-tool .graphiql-editor:not(.hidden)`;
}

/** Undefined while an answer is not whole. A line that is too long is broken, and indented as none is within a string. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text.replaceAll(/\n */g, ''));
  } catch {
    return undefined;
  }
}
