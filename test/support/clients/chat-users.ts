import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { launchForTest, type Person, type Postroom, type Settings } from '../server/postroom.ts';
import { launchBrowser, newVisitor } from './browser.ts';
import { Chat, ChatApp, type ChatMode } from './chat.ts';
import { createFaultProxy, type FaultProxy } from './fault-proxy.ts';

/** The app of examples/chat and a browser, for all tests of a file. */
export class ChatUsers {
  #browser: Browser | undefined;
  #app: ChatApp | undefined;

  async start(mode: ChatMode): Promise<void> {
    [this.#browser, this.#app] = await Promise.all([launchBrowser(), ChatApp.build(mode)]);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#browser?.close(), this.#app?.stop()]);
  }

  get app(): ChatApp {
    if (!this.#app) throw new Error('The app is built before the first test, not before the file is read.');
    return this.#app;
  }

  /** Starts a server, and the proxy through which the pages of the app reach it. */
  async launch(settings: Settings = {}): Promise<{ postroom: Postroom; proxy: FaultProxy }> {
    const postroom = await launchForTest({ ...settings, ALLOWED_ORIGINS: this.app.origin });
    const proxy = await createFaultProxy(postroom.url, this.app.serverPort);
    onTestFinished(() => proxy.close());
    return { postroom, proxy };
  }

  /** Opens the app in a browser context of its own; with a room, waits until it is live. */
  async open(person?: Person, room?: string): Promise<Chat> {
    if (!this.#browser) throw new Error('The browser starts before the first test.');
    const chat = await Chat.open(await newVisitor(this.#browser), this.app, room);
    if (!person) return chat;
    await chat.signIn(person);
    if (room) await chat.isLive();
    return chat;
  }
}

export function shareChatUsers(mode: ChatMode = 'development'): ChatUsers {
  const users = new ChatUsers();
  beforeAll(() => users.start(mode), 300_000);
  afterAll(() => users.stop());
  return users;
}
