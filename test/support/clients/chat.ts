import { join } from 'node:path';
import axe from 'axe-core';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { type Program, Programs, runToEnd } from '../../../scripts/cluster/program.ts';
import { findFreePort } from '../../../scripts/free-port.ts';
import { inRepository } from '../../../scripts/repository.ts';
import type { Person } from '../server/postroom.ts';

const folder = inRepository('examples/chat');

/** The built app of examples/chat, which is served by Vite. */
export class ChatApp {
  /** The origin of its pages. */
  readonly origin: string;
  /** The port of the server that its pages call. */
  readonly serverPort: number;
  readonly #program: Program;

  private constructor(origin: string, serverPort: number, program: Program) {
    this.origin = origin;
    this.serverPort = serverPort;
    this.#program = program;
  }

  /** Installs the packages of its lock file, and builds it for a server on a free port. */
  static async build(): Promise<ChatApp> {
    const serverPort = await findFreePort();
    // Only then do React and Apollo Client report what they find.
    const development = { NODE_ENV: 'development' };
    const env = { ...process.env, ...development, VITE_POSTROOM_URL: `http://127.0.0.1:${serverPort}/graphql` };
    await runToEnd('npm', ['ci', '--no-audit', '--prefer-offline'], { cwd: folder });
    await runToEnd('npm', ['run', 'build'], { cwd: folder, env });
    const port = await findFreePort();
    const vite = join(folder, 'node_modules/vite/bin/vite.js');
    const program = new Programs().start(
      'vite preview',
      process.execPath,
      [vite, 'preview', '--host', '127.0.0.1', '--port', String(port), '--strictPort'],
      { cwd: folder, ready: /Local:/, stopSignal: 'SIGTERM' },
    );
    await program.ready;
    return new ChatApp(`http://127.0.0.1:${port}`, serverPort, program);
  }

  stop(): Promise<void> {
    return this.#program.stop();
  }
}

/** Drives the app through its user interface. */
export class Chat {
  readonly page: Page;
  /** Uncaught errors, and what the app, React or Apollo Client report as errors and warnings. */
  readonly faults: string[] = [];
  /** The documents of the subscriptions that the page has started. */
  readonly subscriptions: string[] = [];

  /** The names of the operations that the page has sent over HTTP. */
  readonly operations: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.on('websocket', (socket) => {
      socket.on('framesent', ({ payload }) => {
        const { type, payload: request } = JSON.parse(String(payload));
        if (type === 'subscribe') this.subscriptions.push(request.query);
      });
    });
    page.on('request', (request) => {
      if (request.method() === 'POST') this.operations.push(request.postDataJSON().operationName);
    });
    page.on('pageerror', (error) => this.faults.push(String(error)));
    page.on('console', (message) => {
      // Answers that are refused, and connections that are cut.
      const isOfNetwork = /^(Failed to load resource|WebSocket connection)/.test(message.text());
      if (['error', 'warning'].includes(message.type()) && !isOfNetwork) this.faults.push(message.text());
    });
  }

  static async open(context: BrowserContext, { origin }: ChatApp, room = ''): Promise<Chat> {
    const chat = new Chat(await context.newPage());
    await chat.page.goto(`${origin}/#${room}`);
    return chat;
  }

  async signIn({ email, password }: Pick<Person, 'email' | 'password'>): Promise<void> {
    const form = this.page.getByRole('form', { name: 'Sign in' });
    await form.getByLabel('E-mail').fill(email);
    await form.getByLabel('Password').fill(password);
    await form.getByRole('button').click();
  }

  /** Waits until the open room has this connection state. */
  async isIn(state: 'Live' | 'Reconnecting…'): Promise<void> {
    await this.page.getByRole('status').getByText(state, { exact: true }).waitFor();
  }

  async write(title: string): Promise<void> {
    const message = this.page.getByRole('textbox', { name: 'Message', exact: true });
    await message.fill(title);
    await message.press('Enter');
  }

  async press(button: string): Promise<void> {
    await this.page.getByRole('button', { name: button, exact: true }).click();
  }

  /** The items of the list of posts that have this text, with those that are not sent. */
  item(text: string): Locator {
    return this.page.getByRole('log').getByRole('listitem').filter({ hasText: text });
  }

  /** The ids of the posts, in the order in which they are shown. */
  ids(): Promise<string[]> {
    return this.page.locator('[role=log] li[id]').evaluateAll((items) => items.map(({ id }) => id));
  }

  /** What the list of the viewer's rooms shows, the room with the latest event first. */
  async rooms(): Promise<string[]> {
    const texts = await this.page.getByRole('region', { name: 'Your rooms' }).getByRole('link').allInnerTexts();
    return texts.map((text) => text.replaceAll('\n', ' '));
  }

  /** Waits until the list of the viewer's rooms shows exactly these. */
  async lists(...rooms: string[]): Promise<void> {
    await expect.poll(() => this.rooms()).toEqual(rooms);
  }

  /** The number of operations of this name that the page has sent over HTTP. */
  count(name: string): number {
    return this.operations.filter((operation) => operation === name).length;
  }

  /** Opens a room of the list. */
  async choose(room: string): Promise<void> {
    await this.page.getByRole('link', { name: room }).click();
    await this.page.getByRole('heading', { name: room }).waitFor();
    await this.isIn('Live');
  }

  /** Presses Tab until this element has the focus. */
  async tabTo(wanted: Locator, key = 'Tab'): Promise<void> {
    for (let pressed = 0; pressed < 60; pressed += 1) {
      await this.page.keyboard.press(key);
      if (await wanted.evaluate((element) => element === document.activeElement)) return;
    }
    throw new Error(`The keyboard does not reach ${wanted}.`);
  }

  /** Asserts that axe-core finds no violation in the light and the dark theme. */
  async expectAccessible(): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await this.page.emulateMedia({ colorScheme });
      await this.page.evaluate(axe.source);
      const found = await this.page.evaluate('axe.run().then(({ violations }) => violations.map(({ help }) => help))');
      expect(found, colorScheme).toEqual([]);
    }
  }
}
