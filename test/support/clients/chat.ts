import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { type Program, Programs, runToEnd } from '../../../scripts/cluster/program.ts';
import { findFreePort } from '../../../scripts/free-port.ts';
import { inRepository } from '../../../scripts/repository.ts';
import type { Person } from '../server/postroom.ts';

const folder = inRepository('examples/chat');
const vite = join(folder, 'node_modules/vite/bin/vite.js');

/** Files of tests run at the same time: under a lock, the first one installs the packages of the lock file. */
const install = [
  'cd "$0"',
  '{ test node_modules/.package-lock.json -nt package-lock.json || npm ci --include=dev --no-audit --prefer-offline; }',
  'npm run build-client --prefix ../..',
].join(' && ');
const build = `${install} && npm run build -- --outDir "$1" --emptyOutDir`;

export async function installChat(): Promise<void> {
  await runToEnd('flock', [join(folder, 'package-lock.json'), 'sh', '-c', install, folder], {});
}

/** In `development`, React reports what it finds; `production` is what users run. */
export type ChatMode = 'development' | 'production';

/** The built app of examples/chat, which is served by Vite. */
export class ChatApp {
  /** The origin of its pages. */
  readonly origin: string;
  /** The port of the server that its pages call. */
  readonly serverPort: number;
  readonly #program: Program;
  readonly #built: string;

  private constructor(origin: string, serverPort: number, program: Program, built: string) {
    this.origin = origin;
    this.serverPort = serverPort;
    this.#program = program;
    this.#built = built;
  }

  /** Builds it for a server on a free port. */
  static async build(mode: ChatMode): Promise<ChatApp> {
    const serverPort = await findFreePort();
    const built = mkdtempSync(join(tmpdir(), 'postroom-chat-'));
    const env = { ...process.env, NODE_ENV: mode, VITE_POSTROOM_URL: `http://127.0.0.1:${serverPort}/graphql` };
    await runToEnd('flock', [join(folder, 'package-lock.json'), 'sh', '-c', build, folder, built], { env });
    const port = await findFreePort();
    const program = new Programs().start(
      'vite preview',
      process.execPath,
      [vite, 'preview', '--outDir', built, '--host', '127.0.0.1', '--port', String(port), '--strictPort'],
      { cwd: folder, ready: /Local:/, stopSignal: 'SIGTERM' },
    );
    await program.ready;
    return new ChatApp(`http://127.0.0.1:${port}`, serverPort, program, built);
  }

  async stop(): Promise<void> {
    await this.#program.stop();
    rmSync(this.#built, { recursive: true });
  }
}

/** What the badge of the connection shows. */
export type ChatState = 'Live' | 'Reconnecting…' | 'Catching up…' | 'Disconnected';

/** Drives the app through its user interface. */
export class Chat {
  readonly page: Page;
  /** Uncaught errors, and what the app or React report as errors and warnings. */
  readonly faults: string[] = [];
  /** The documents of the subscriptions that the page has started. */
  readonly subscriptions: string[] = [];
  /** The documents of the operations that the page has sent over HTTP. */
  readonly operations: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on('websocket', (socket) => {
      socket.on('framesent', ({ payload }) => {
        const { type, payload: request } = JSON.parse(String(payload));
        if (type === 'subscribe') this.subscriptions.push(request.query);
      });
    });
    page.on('request', (request) => {
      if (request.method() === 'POST') this.operations.push(request.postDataJSON().query);
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

  /** Waits until the connection has this state. */
  async isIn(state: ChatState): Promise<void> {
    await this.page.getByRole('status').getByText(state, { exact: true }).waitFor();
  }

  /** Waits until the open room is live and its posts are shown. */
  async isLive(): Promise<void> {
    await this.isIn('Live');
    await this.page.getByRole('log').waitFor();
  }

  /** The field for a new message. */
  get message(): Locator {
    return this.page.getByRole('textbox', { name: 'Message', exact: true });
  }

  async write(text: string): Promise<void> {
    await this.message.fill(text);
    await this.message.press('Enter');
  }

  async press(button: string): Promise<void> {
    await this.page.getByRole('button', { name: button, exact: true }).click();
  }

  /** The items of the list of posts that have this text, with those that are not sent. */
  item(text: string): Locator {
    return this.page.getByRole('log').getByRole('listitem').filter({ hasText: text });
  }

  /** The item of a post that the server has confirmed. */
  sent(text: string): Locator {
    return this.item(text).and(this.page.locator('[id]'));
  }

  /** The ids of the posts, in the order in which they are shown. */
  ids(): Promise<string[]> {
    return this.page.locator('[role=log] li[id]').evaluateAll((items) => items.map(({ id }) => id));
  }

  /** The texts of the posts that are confirmed, in the order in which they are shown. */
  texts(): Promise<string[]> {
    return this.page.locator('[role=log] li[id] > div > p').allInnerTexts();
  }

  /** Scrolls up, which loads older posts, and returns the ids of the posts that are shown. */
  async scrollUp(): Promise<string[]> {
    await this.page.getByRole('log').press('Home');
    return this.ids();
  }

  /** What the list of the viewer's rooms shows, the room with the latest event first. */
  async rooms(list = 'Your rooms'): Promise<string[]> {
    const texts = await this.page.getByRole('region', { name: list }).getByRole('link').allInnerTexts();
    return texts.map((text) => text.trim().replaceAll(/\s+/g, ' '));
  }

  /** Waits until the list of the viewer's rooms shows exactly these. */
  async lists(...rooms: string[]): Promise<void> {
    await expect.poll(() => this.rooms()).toEqual(rooms);
  }

  /** The number of operations with this text that the page has sent over HTTP. */
  count(text: string): number {
    return this.operations.filter((operation) => operation.includes(text)).length;
  }

  /** Opens a room of the list. */
  async choose(room: string): Promise<void> {
    await this.page.getByRole('link', { name: room }).click();
    await this.page.getByRole('heading', { name: room }).waitFor();
    await this.isLive();
  }

  /** Creates a room, which opens it, and returns its id. */
  async createRoom(name: string, isPrivate = false): Promise<string> {
    await this.press('New room');
    const dialog = this.page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    if (isPrivate) await dialog.getByLabel('Private').check();
    await this.press('Create room');
    await this.page.getByRole('heading', { name }).waitFor();
    return new URL(this.page.url()).hash.slice(1);
  }

  /** Presses Tab until this element has the focus. */
  async tabTo(wanted: Locator, key = 'Tab'): Promise<void> {
    for (let pressed = 0; pressed < 60; pressed += 1) {
      await this.page.keyboard.press(key);
      if (await wanted.evaluate((element) => element === document.activeElement)) return;
    }
    throw new Error(`The keyboard does not reach ${wanted}.`);
  }

  /** Browsers without a window show every page. */
  async setVisibility(state: DocumentVisibilityState): Promise<void> {
    await this.page.evaluate((visibilityState) => {
      if (visibilityState === 'visible') Reflect.deleteProperty(document, 'visibilityState');
      else Object.defineProperty(document, 'visibilityState', { configurable: true, value: visibilityState });
      document.dispatchEvent(new Event('visibilitychange'));
    }, state);
  }

  /** Asserts that axe-core finds no violation, in the light and the dark theme, in a window and on a phone. */
  async expectAccessible(): Promise<void> {
    const before = this.page.viewportSize();
    await this.page.evaluate(axe.source);
    for (const size of [
      { width: 1_280, height: 800 },
      { width: 390, height: 844 },
    ]) {
      await this.page.setViewportSize(size);
      for (const colorScheme of ['light', 'dark'] as const) {
        await this.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        const found = await this.page.evaluate(
          'axe.run().then(({ violations }) => violations.map(({ help, nodes }) => [help, nodes[0].html]))',
        );
        expect(found, `${size.width} ${colorScheme}`).toEqual([]);
      }
    }
    if (before) await this.page.setViewportSize(before);
  }
}
