import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

const executablePath = '/usr/bin/chromium';

export const hasChromium = existsSync(executablePath);
/** Appended to the title of a test that is skipped without Chromium. */
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
  // Blocks the requests that Chromium sends to Google on its own.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
];

/** Launches Chromium with a new profile; the caller closes it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath, args: quiet });
}

/** A browser context without stored data, closed after the test. By default a window shows a whole result. */
export async function newVisitor(browser: Browser, viewport = { width: 1280, height: 2_000 }): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  onTestFinished(() => context.close());
  return context;
}

type Editor = 'query' | 'variables' | 'headers';

/** Drives GraphiQL through its user interface. */
export class Graphiql {
  readonly page: Page;
  /** The URLs of all requests of the page, including those of its workers and sockets. */
  readonly requested: string[] = [];
  /** The frames received over the page's WebSockets. */
  readonly received: string[] = [];
  /** The number of WebSockets that could not be opened. */
  refused = 0;
  /** Uncaught errors, and messages that the console shows as errors. */
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

  /** Opens GraphiQL in a new page of the context. */
  static async open(context: BrowserContext, url: string): Promise<Graphiql> {
    const graphiql = new Graphiql(await context.newPage());
    await graphiql.page.addInitScript(() => {
      addEventListener('click', ({ isTrusted }) => {
        const counted = document.documentElement.dataset;
        if (isTrusted) counted['clicks'] = String(Number(counted['clicks'] ?? 0) + 1);
      });
    });
    await graphiql.page.goto(url);
    await graphiql.ready();
    return graphiql;
  }

  /** Resolves when the schema is loaded and the editors can use it. */
  async ready(): Promise<void> {
    await this.page.locator('.graphiql-query-editor .view-lines').waitFor();
    await this.page.locator('.graphiql-spinner').waitFor({ state: 'detached' });
  }

  tabs(): Promise<string[]> {
    return this.page.locator('.graphiql-tab-button').allInnerTexts();
  }

  async choose(tab: string): Promise<void> {
    await this.page.locator('.graphiql-tab-button', { hasText: tab }).click();
    await this.settled(tab);
  }

  async write(editor: Editor, text: string): Promise<void> {
    if (editor !== 'query') {
      await this.page
        .getByRole('button', { name: editor === 'headers' ? 'Headers' : 'Variables', exact: true })
        .click();
    }
    await this.page.locator(place(editor)).click();
    await this.page.keyboard.press('Control+A');
    // The text is pasted, because the editor closes brackets in typed text.
    await this.page.evaluate((pasted) => navigator.clipboard.writeText(pasted), text);
    await this.page.keyboard.press('Control+V');
    await expect.poll(() => this.read(editor)).toBe(text);
    const [, name] = /^(?:query|mutation|subscription) (\w+)/.exec(text) ?? [];
    if (name) await this.settled(name);
  }

  /** The visible text of an editor. */
  read(editor: Editor): Promise<string> {
    return this.#text(place(editor));
  }

  /** Presses the play button and selects the operation if the document has several. */
  async play(operation?: string): Promise<void> {
    await this.page.locator('.graphiql-execute-button').click();
    if (operation) await this.page.getByRole('menuitem', { name: operation, exact: true }).click();
  }

  /** Waits until the result pane shows `expected`, and returns the whole result. */
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the operation's.
  async shows(expected: object): Promise<any> {
    let answer: unknown;
    const look = async () => {
      answer = parse(await this.#text('.result-window'));
      return answer;
    };
    await expect.poll(look).toMatchObject(expected);
    return answer;
  }

  /** The number of clicks of the user, without those of scripts. */
  async clicks(): Promise<number> {
    return Number(await this.page.locator('html').getAttribute('data-clicks'));
  }

  /** Presses a button of the page around GraphiQL. */
  async press(button: 'Try it' | 'Sign out' | 'Close'): Promise<void> {
    await this.page.getByRole('button', { name: button, exact: true }).click();
  }

  /** Waits until the bar shows this text: who is signed in, or why the session ended. */
  async showsInBar(text: string): Promise<void> {
    await this.page.locator('#page > header').getByText(text, { exact: true }).waitFor();
  }

  /** What the page reports about the demo or the session. */
  async notice(): Promise<string> {
    return (await this.page.locator('#notice').textContent()) ?? '';
  }

  /** What the page shows to do next, where the result will be. */
  guide(): Promise<string> {
    return this.page.locator('#guide').innerText();
  }

  offersToTry(): Promise<boolean> {
    return this.page.getByRole('button', { name: 'Try it' }).isVisible();
  }

  /** Waits until the latest event of the panel beside GraphiQL contains `expected`, and returns all its events. */
  // biome-ignore lint/suspicious/noExplicitAny: their shape is the subscription's.
  async showsLive(expected: object): Promise<any[]> {
    const read = async () =>
      (await this.page.locator('#live-events pre').allTextContents()).map((text) => JSON.parse(text));
    await expect.poll(async () => (await read())[0]).toMatchObject(expected);
    return read();
  }

  /** Waits until the panel beside GraphiQL describes its subscription with this text. */
  async showsAtSide(text: string): Promise<void> {
    await expect.poll(() => this.page.locator('#live-state').textContent()).toBe(text);
  }

  /** The rules of axe-core that the parts around GraphiQL violate, in the light and the dark theme. */
  async violations(): Promise<string[]> {
    const found: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await this.page.emulateMedia({ colorScheme });
      await this.page.evaluate(axe.source);
      const parts = JSON.stringify(['#page > header', '#live', '#guide']);
      const run = `axe.run(${parts}.filter((part) => document.querySelector(part)))`;
      found.push(
        ...(await this.page.evaluate<string[]>(`${run}.then(({ violations }) => violations.map(({ help }) => help))`)),
      );
    }
    return found;
  }

  /** Everything that the browser keeps after the browser tab is closed. */
  stored(): Promise<string> {
    return this.page.evaluate(() => JSON.stringify(localStorage));
  }

  /** Resolves when a subscription is live: the server has sent the start position in a ping. */
  async live(): Promise<void> {
    await expect.poll(() => this.received.some((frame) => JSON.parse(frame).payload?.live)).toBeTruthy();
  }

  /** Resolves when GraphiQL has parsed and stored the document, so that the play button runs this operation. */
  async settled(operation: string): Promise<void> {
    await this.page.waitForFunction((name) => {
      const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('postroom:graphiql:tabState') ?? '{"tabs":[]}');
      return tabs[activeTabIndex]?.operationName === name;
    }, operation);
  }

  /** The editor positions its lines with CSS, and their order in the document can differ. */
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

/**
 * Returns undefined for an incomplete result. The editor wraps long lines and indents the rest; strings contain no line
 * breaks.
 */
function parse(text: string): unknown {
  try {
    return JSON.parse(text.replaceAll(/\n */g, ''));
  } catch {
    return undefined;
  }
}
