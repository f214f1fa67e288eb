import { describe, expect, it } from 'vitest';
import { chromiumNote, hasChromium } from '../../support/clients/browser.ts';
import { Chat } from '../../support/clients/chat.ts';
import { shareChatUsers } from '../../support/clients/chat-users.ts';
import { TokenMaker } from '../../support/identity/tokens.ts';
import type { Postroom } from '../../support/server/postroom.ts';

/** Long enough for the app to start, and to renew its token. */
const lifetimeSeconds = 20;

describe.skipIf(!hasChromium)(`the session of the example app${chromiumNote}`, () => {
  const users = shareChatUsers();

  /** Opens a room in two tabs of a browser, whose session expires soon. The second one misses the warnings of the server. */
  async function launchTabs() {
    const tokens = new TokenMaker();
    const { postroom } = await users.launch({ SESSION_KEY: tokens.sessionKey });
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    const chat = await users.open();
    const token = await tokens.sign(ada.id, lifetimeSeconds);
    await chat.page.evaluate(
      (session) => localStorage.setItem('postroom:session', session),
      JSON.stringify({ token, user: { id: ada.id, name: 'Ada' } }),
    );
    const frozen = new Chat(await chat.page.context().newPage());
    await frozen.page.routeWebSocket(/graphql$/, (page) => {
      const server = page.connectToServer();
      server.onMessage((message) => {
        if (!String(message).includes('expiresAt')) page.send(message);
      });
    });
    await frozen.page.goto(`${users.app.origin}/#${room}`);
    await frozen.isLive();
    let sockets = 0;
    chat.page.on('websocket', () => {
      sockets += 1;
    });
    await chat.page.goto(`${users.app.origin}/?again#${room}`);
    await chat.isLive();
    return { postroom, ada, room, token, chat, frozen, socketCount: () => sockets };
  }

  async function untilExpired(postroom: Postroom, token: string): Promise<void> {
    await expect.poll(async () => (await postroom.send('{ viewer { id } }', {}, token)).status).toBe(401);
  }

  const storedToken = (chat: Chat): Promise<string | undefined> =>
    chat.page.evaluate(() => JSON.parse(localStorage.getItem('postroom:session') ?? 'null')?.token);

  it('is renewed before it expires, on the same connection; a tab that was frozen meanwhile continues with it', async () => {
    const { postroom, ada, room, token, chat, frozen, socketCount } = await launchTabs();
    await expect.poll(() => storedToken(chat)).not.toBe(token);
    const renewed = await storedToken(chat);
    const isLoadedAgain = frozen.page.waitForEvent('load');
    await untilExpired(postroom, token);
    await isLoadedAgain;
    await frozen.isLive();
    await postroom.createPost({ ...ada, token: renewed ?? '' }, room, 'after');
    for (const tab of [chat, frozen]) {
      await tab.sent('after').waitFor();
      await tab.isIn('Live');
      expect(tab.faults).toEqual([]);
    }
    expect(socketCount()).toBe(1);
    expect(await storedToken(chat)).toBe(renewed);
  });

  it('is not renewed in place of another user who has signed in meanwhile', async () => {
    const { postroom, token, chat, frozen } = await launchTabs();
    const ben = await postroom.signUp('Ben');
    const session = JSON.stringify({ token: ben.token, user: { id: ben.id, name: 'Ben' } });
    // As if the tab had not yet received the event of the storage.
    await chat.page.addInitScript(() => addEventListener('storage', (event) => event.stopImmediatePropagation(), true));
    const renewal = Promise.withResolvers<void>();
    await chat.page.route(/graphql$/, async (route) => {
      if (route.request().postDataJSON()?.query.includes('renewSession')) await renewal.promise;
      await route.continue();
    });
    const asked = chat.page.waitForRequest((request) => request.postData()?.includes('renewSession') ?? false);
    await chat.page.evaluate((old) => localStorage.setItem('postroom:session', old), await sessionOf(chat, token));
    await chat.page.reload();
    await asked;
    await frozen.page.evaluate((other) => localStorage.setItem('postroom:session', other), session);
    const answered = chat.page.waitForResponse(
      (response) => response.request().postData()?.includes('renewSession') ?? false,
    );
    renewal.resolve();
    await answered;
    await chat.isIn('Live');
    expect(await storedToken(chat)).toBe(ben.token);
  });
});

/** The stored session with another token. */
async function sessionOf(chat: Chat, token: string): Promise<string> {
  return chat.page.evaluate(
    (old) => JSON.stringify({ ...JSON.parse(localStorage.getItem('postroom:session') ?? '{}'), token: old }),
    token,
  );
}
