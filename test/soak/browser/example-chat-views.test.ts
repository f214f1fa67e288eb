import { describe, expect, it } from 'vitest';
import { inRepository } from '../../../scripts/repository.ts';
import { chromiumNote, hasChromium } from '../../support/clients/browser.ts';
import type { Chat } from '../../support/clients/chat.ts';
import { shareChatUsers } from '../../support/clients/chat-users.ts';
import type { Person } from '../../support/server/postroom.ts';

describe.skipIf(!hasChromium)(`the views of the example app${chromiumNote}`, () => {
  const users = shareChatUsers();

  it('are used with the keyboard alone, and axe-core finds no violation in any of them', async () => {
    const { postroom } = await users.launch();
    await postroom.signUp('Ben');
    const chat = await users.open();
    const { page } = chat;
    const { keyboard } = page;
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const type = async (text: string, key: 'Enter' | 'Tab') => {
      await keyboard.type(text);
      await keyboard.press(key);
    };

    await chat.expectAccessible();
    await chat.tabTo(button('Create an account'));
    await keyboard.press('Enter');
    await chat.tabTo(page.getByLabel('Name'), 'Shift+Tab');
    await chat.expectAccessible();
    await type('Ada', 'Tab');
    await type('ada@example.org', 'Tab');
    await type('correct horse', 'Enter');

    await page.getByText('Choose a room').waitFor();
    await chat.expectAccessible();
    await chat.tabTo(button('New room'));
    await keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await chat.expectAccessible();
    await keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await type('attic', 'Enter');
    await chat.isLive();

    for (const text of ['Hello', 'Good evening']) {
      await type(text, 'Enter');
      await chat.sent(text).waitFor();
    }
    await chat.expectAccessible();
    await chat.tabTo(page.getByRole('log'), 'Shift+Tab');
    await keyboard.press('ArrowUp');
    await keyboard.press('ArrowUp');
    await chat.tabTo(chat.item('Hello').getByRole('button', { name: 'Edit' }));
    await keyboard.press('Enter');
    await keyboard.press('End');
    await chat.expectAccessible();
    await type(', world', 'Enter');
    await chat.item('Hello, world').getByText('edited').waitFor();

    await chat.tabTo(button('Members'), 'Shift+Tab');
    await keyboard.press('Enter');
    await chat.tabTo(page.getByText('Add people'));
    await keyboard.press('Enter');
    await chat.tabTo(page.getByLabel('Name of a person'));
    await type('Ben', 'Enter');
    await button('Add Ben').waitFor();
    await chat.expectAccessible();
    await chat.tabTo(button('Add Ben'));
    await keyboard.press('Enter');
    await button('Remove Ben').waitFor();
    await chat.tabTo(page.getByText('Delete room…'));
    await keyboard.press('Enter');
    await button('Delete for everybody').waitFor();
    await chat.expectAccessible();
    await keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await chat.tabTo(page.getByRole('log'));
    await keyboard.press('ArrowUp');
    await chat.tabTo(chat.item('Good evening').getByRole('button', { name: 'Delete' }));
    await keyboard.press('Enter');
    await chat.item('Good evening').waitFor({ state: 'detached' });
    await chat.expectAccessible();
    await chat.tabTo(button('Undo'));
    await keyboard.press('Enter');
    await chat.item('Good evening').waitFor();
    await chat.tabTo(button('Sign out'), 'Shift+Tab');
    await keyboard.press('Enter');
    await page.getByRole('form', { name: 'Sign in' }).waitFor();
    expect(chat.faults).toEqual([]);
  });

  it('fit on a phone: one column, with a way back to the rooms, and nothing is wider than the screen', async () => {
    const { postroom, proxy } = await users.launch();
    const ada = await postroom.signUp('Ada Augusta King, Countess of Lovelace, née Byron, of London'.slice(0, 80));
    const hall = await postroom.createRoom(ada, 'a hall with a name that is longer than a line of a phone can show');
    await postroom.createPost(
      ada,
      hall,
      'w'.repeat(200),
      `${'w'.repeat(500)} https://example.org/${'long/'.repeat(50)}`,
    );
    const chat = await users.open();
    const { page } = chat;
    await page.setViewportSize({ width: 390, height: 844 });
    await expectToFit(chat);
    await chat.signIn(ada);
    const link = page.getByRole('link', { name: 'a hall' });
    await link.waitFor();
    await expectToFit(chat);
    await link.click();
    await chat.isLive();
    await link.waitFor({ state: 'hidden' });
    await expectToFit(chat);
    await chat.message.fill(`${'w'.repeat(300)}\n${'line\n'.repeat(60)}`);
    await expectToFit(chat);
    expect((await page.getByRole('log').boundingBox())?.height).toBeGreaterThan(200);
    await chat.message.fill('');
    await chat.press('Members');
    await page.getByRole('dialog').waitFor();
    await expectToFit(chat);
    await page.keyboard.press('Escape');
    proxy.retarget('http://127.0.0.1:1');
    await chat.isIn('Reconnecting…');
    await chat.write('w'.repeat(300));
    await chat.item('Not sent yet.').waitFor();
    await expectToFit(chat);
    proxy.retarget(postroom.url);
    await chat.isIn('Live');
    await page.getByRole('link', { name: 'Back to the rooms' }).click();
    await link.waitFor();
    await page.getByRole('log').waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 1_280, height: 800 });
    await link.click();
    await chat.isLive();
    expect(await link.isVisible()).toBe(true);
    await expectToFit(chat);
    expect(chat.faults).toEqual([]);
  });

  it('tell each state of the connection with another color, shape and word', async () => {
    const { postroom, proxy } = await users.launch();
    const ada = await postroom.signUp('Ada');
    const chat = await users.open(ada, await postroom.createRoom(ada, 'hall'));
    const read = () =>
      chat.page.locator('.room .connection').evaluate((badge) => ({
        word: badge.textContent,
        shape: badge.querySelector('path')?.getAttribute('d'),
        color: getComputedStyle(badge).color,
      }));
    const views = [await read()];
    proxy.retarget('http://127.0.0.1:1');
    await chat.isIn('Reconnecting…');
    views.push(await read());
    await chat.expectAccessible();
    proxy.retarget(postroom.url);
    await chat.isIn('Live');
    await chat.page.routeWebSocket(
      '**/graphql',
      (socket) => void socket.close({ code: 1008, reason: 'by an operator' }),
    );
    await chat.page.reload();
    await chat.isIn('Disconnected');
    views.push(await read());
    await chat.expectAccessible();
    for (const part of ['word', 'shape', 'color'] as const)
      expect(new Set(views.map((view) => view[part])).size).toBe(views.length);
    await chat.page.getByRole('button', { name: 'Connect again' }).waitFor();
  });

  // CHAT_SCREENSHOT=true writes the picture of the README.
  it.runIf(process.env['CHAT_SCREENSHOT'])('are shown in docs/chat.png', async () => {
    const { postroom } = await users.launch();
    const names = ['Ada', 'Grace', 'Linus', 'Margaret'];
    const [ada, grace, linus, margaret] = (await postroom.signUpAll(names)) as [Person, Person, Person, Person];
    const ids: Record<string, string> = {};
    for (const name of ['guidance computer', 'compilers', 'kernel', 'lobby', 'launch'])
      ids[name] = await postroom.createRoom(ada, name);
    const { launch: room = '', kernel = '', lobby = '' } = ids;
    for (const [author, unread] of [
      [linus, kernel],
      [linus, kernel],
      [grace, lobby],
    ] as const)
      await postroom.createPost(author, unread, 'Hello');
    await postroom.createPost(grace, room, 'The deploy is out. Is everyone still connected?');
    await postroom.createPost(linus, room, 'My train went through three tunnels, and nothing is missing.');
    await postroom.createPost(ada, room, 'Same here: one reconnect, no gap, nothing twice.');
    await postroom.createPost(margaret, room, 'Then we are go for launch.');
    await postroom.createPost(margaret, room, 'All checks are green, on every node.');
    const [chat, other] = [await users.open(ada, room), await users.open(grace, room)];
    await chat.lists('launch', 'lobby 1 unread', 'kernel 2 unread', 'compilers', 'guidance computer');
    await chat.page.getByText('2 here: Ada, Grace').waitFor();
    await other.message.pressSequentially('H');
    await chat.page.getByText('Grace is typing…').waitFor();
    await chat.page.setViewportSize({ width: 1_200, height: 520 });
    await chat.page.emulateMedia({ colorScheme: 'light' });
    await chat.page.screenshot({ path: inRepository('docs/chat.png') });
  });
});

/** Nothing is cut at the right, and the page does not scroll sideways. */
async function expectToFit({ page }: Chat): Promise<void> {
  const found = await page.evaluate(() => {
    const isTooWide = ({ scrollWidth, clientWidth }: Element) => scrollWidth > clientWidth;
    const isOutside = (element: Element) => element.getBoundingClientRect().right > innerWidth + 0.5;
    const containers = [
      document.documentElement,
      ...document.querySelectorAll('[role=log], nav, .room, .sidebar, dialog'),
    ];
    const controls = [...document.querySelectorAll('button, textarea, input, [role=status]')];
    return [...containers.filter(isTooWide), ...controls.filter(isOutside)].map((element) => element.outerHTML);
  });
  expect(found).toEqual([]);
}
