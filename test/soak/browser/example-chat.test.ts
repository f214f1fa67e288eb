import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { findFreePort } from '../../../scripts/free-port.ts';
import { inRepository } from '../../../scripts/repository.ts';
import { chromiumNote, hasChromium } from '../../support/clients/browser.ts';
import type { Chat } from '../../support/clients/chat.ts';
import { shareChatUsers } from '../../support/clients/chat-users.ts';
import type { Postroom } from '../../support/server/postroom.ts';

describe.skipIf(!hasChromium)(`the example app${chromiumNote}`, () => {
  const users = shareChatUsers();

  it('is used with the keyboard alone, and axe-core finds no violation in any of its views', async () => {
    const { postroom } = await users.launch();
    await postroom.signUp('Ben');
    const chat = await users.open();
    const { page } = chat;
    const { keyboard } = page;
    const type = async (text: string, key: 'Enter' | 'Tab') => {
      await keyboard.type(text);
      await keyboard.press(key);
    };

    await chat.expectAccessible();
    await chat.tabTo(page.locator('summary'));
    await keyboard.press('Enter');
    await chat.tabTo(page.getByLabel('Name'));
    await chat.expectAccessible();
    await type('Ada', 'Tab');
    await type('ada@example.org', 'Tab');
    await type('correct horse', 'Enter');

    await chat.page.getByText('Choose a room').waitFor();
    await chat.expectAccessible();
    await chat.tabTo(page.getByRole('textbox', { name: 'New room', exact: true }));
    await type('attic', 'Tab');
    await keyboard.press('Space');
    await keyboard.press('Enter');
    await chat.isIn('Live');

    await type('Hello', 'Enter');
    await chat.tabTo(page.getByRole('button', { name: 'Edit', exact: true }), 'Shift+Tab');
    await keyboard.press('Enter');
    await keyboard.press('End');
    await chat.expectAccessible();
    await type(', world', 'Enter');
    await chat.item('Hello, world').waitFor();
    await chat.tabTo(page.getByRole('textbox', { name: 'Message', exact: true }));
    await type('x'.repeat(201), 'Enter');
    await chat.page.getByRole('alert').getByText('title too long').waitFor();
    await chat.expectAccessible();
    await chat.tabTo(page.getByRole('textbox', { name: 'Message not sent', exact: true }), 'Shift+Tab');
    await keyboard.press('Control+A');
    await type('short', 'Enter');
    await chat.item('short').and(chat.page.locator('[id]')).waitFor();

    await chat.tabTo(page.locator('summary'), 'Shift+Tab');
    await keyboard.press('Enter');
    await chat.tabTo(page.getByRole('searchbox', { name: 'Invite people by name', exact: true }));
    await keyboard.type('Ben');
    await keyboard.press('Enter');
    await chat.page.getByRole('button', { name: 'Invite Ben' }).waitFor();
    await chat.expectAccessible();
    await chat.tabTo(page.getByRole('button', { name: 'Invite Ben', exact: true }));
    await keyboard.press('Enter');
    await chat.page.getByText('Members: 2').waitFor();

    await chat.tabTo(chat.item('Hello, world').getByRole('button', { name: 'Delete' }));
    await keyboard.press('Enter');
    await chat.item('Hello, world').waitFor({ state: 'detached' });
    await chat.tabTo(page.getByRole('button', { name: 'Sign out', exact: true }), 'Shift+Tab');
    await keyboard.press('Enter');
    await chat.page.getByText('Create an account').waitFor();
    expect(chat.faults).toEqual([]);
  });

  it('shows a post at once, says that it failed, and sends it again when the connection is back', async () => {
    const { postroom, proxy } = await users.launch();
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    const chat = await users.open(ada, room);

    proxy.freeze('up');
    await chat.write('late');
    await chat.item('late (sending…)').waitFor();
    proxy.thaw();
    await chat.item('late').and(chat.page.locator('[id]')).waitFor();

    proxy.retarget('http://127.0.0.1:1');
    await chat.isIn('Reconnecting…');
    for (const title of ['lost', 'and another']) await chat.write(title);
    await chat.item('lost').getByRole('alert').getByText('The server cannot be reached.').waitFor();
    proxy.retarget(postroom.url);
    await expect.poll(() => titles(chat)).toEqual(['late', 'lost', 'and another']);
    await chat.isIn('Live');
    await expect.poll(() => chat.page.getByRole('alert').count()).toBe(0);
    expect(await chat.item('').count()).toBe(3);
    expect(chat.faults).toEqual([]);
  });

  it('shows that the list of rooms failed until the connection is back', async () => {
    const { postroom, proxy } = await users.launch();
    const ada = await postroom.signUp('Ada');
    const chat = await users.open(ada, await postroom.createRoom(ada, 'hall'));
    const alert = chat.page.getByRole('navigation').getByRole('alert');
    proxy.retarget('http://127.0.0.1:1');
    await alert.getByText('The server cannot be reached.').waitFor();
    const queried = chat.count('Rooms');
    proxy.retarget(postroom.url);
    await alert.waitFor({ state: 'detached' });
    await chat.isIn('Live');
    expect(chat.count('Rooms')).toBe(queried + 1);
    expect(chat.faults).toEqual([]);
  });

  it('says how long a user who sends too much has to wait, and then sends the post', async () => {
    const { postroom } = await users.launch({ RATE_LIMIT: '60', RATE_WINDOW_SECONDS: '10' });
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    const chat = await users.open(ada, room);
    while ((await postroom.send('{ viewer { id } }', {}, ada.token)).status !== 429);
    await chat.write('late');
    await chat.item('late (will be sent again)').getByText('Too many requests: please wait').waitFor();
    await chat.item('late').and(chat.page.locator('[id]')).waitFor();
  });

  it('notices a connection that no longer answers, and resumes', async () => {
    const { postroom, proxy } = await users.launch();
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    const chat = await users.open(ada, room);
    proxy.freeze();
    const id = await postroom.createPost(ada, room, 'Hello');
    await chat.isIn('Reconnecting…');
    proxy.thaw();
    await chat.isIn('Live');
    await expect.poll(() => chat.ids()).toEqual([id]);
  });

  it('loads a room as soon as the server can be reached again', async () => {
    const { postroom, proxy } = await users.launch();
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    const { page } = await users.open(ada);
    await page.getByRole('link', { name: 'hall' }).waitFor();
    proxy.retarget('http://127.0.0.1:1');
    const failed = page.waitForEvent('requestfailed');
    await page.goto(`${users.app.origin}/#${room}`);
    await failed;
    proxy.retarget(postroom.url);
    await page.getByRole('heading', { name: 'hall' }).waitFor();
  });

  it('loads older posts when the list is scrolled up, in order', async () => {
    const { postroom } = await users.launch();
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    const ids: string[] = [];
    for (let index = 0; index < 100; index += 1) ids.push(await postroom.createPost(ada, room, `post ${index}`));
    const chat = await users.open(ada, room);
    await expect.poll(() => chat.ids()).toEqual(ids.slice(-30));
    const scrollUp = async () => {
      await chat.page.getByRole('log').press('Home');
      return chat.ids();
    };
    await expect.poll(scrollUp).toEqual(ids);
    await chat.page.getByRole('button', { name: 'Older messages' }).waitFor({ state: 'detached' });
  });

  it('shows a private room to the people who are invited, until they are removed', async () => {
    const { postroom } = await users.launch();
    const [ada, ben] = [await postroom.signUp('Ada'), await postroom.signUp('Ben')];
    const owner = await users.open(ada);
    await owner.page.getByRole('textbox', { name: 'New room' }).fill('attic');
    await owner.page.getByLabel('Only for members').check();
    await owner.press('Create room');
    await owner.isIn('Live');
    const guest = await users.open(ben);
    await guest.page.getByText('Choose a room').waitFor();
    await guest.page.goto(owner.page.url());
    await guest.page.getByRole('alert').waitFor();

    await owner.page.getByText('Members: 1').click();
    await owner.page.getByLabel('Invite people by name').fill('Ben');
    await owner.press('Find');
    await owner.press('Invite Ben');
    await owner.page.getByText('Members: 2').waitFor();
    await guest.page.reload();
    await guest.isIn('Live');
    await guest.write('Thank you');
    await owner.item('Thank you').waitFor();
    await owner.press('Remove Ben');
    await guest.page.getByRole('alert').waitFor();
    await guest.expectAccessible();
    await owner.page.getByText('Members: 1').waitFor();
    expect([...owner.faults, ...guest.faults]).toEqual([]);
  });

  it('npm run example starts the server and the app, and Ctrl-C stops both', async () => {
    const [port, appPort] = [String(await findFreePort()), String(await findFreePort())];
    const urls = [`http://127.0.0.1:${port}/health`, `http://localhost:${appPort}/`];
    // In a process group of its own, to which the signal is sent as by a terminal.
    const npm = spawn('npm', ['run', 'example', '--', '--app-port', appPort], {
      cwd: inRepository(),
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: port, DATABASE_URL: 'sqlite::memory:' },
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = once(npm, 'close');
    for await (const line of createInterface(npm.stdout)) if (line.startsWith('The app is at')) break;
    npm.stdout.resume();
    for (const url of urls) expect((await fetch(url)).status).toBe(200);
    if (npm.pid !== undefined) process.kill(-npm.pid, 'SIGINT');
    await closed;
    for (const url of urls) await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  // CHAT_SCREENSHOT=true writes the picture of the README.
  it.runIf(process.env['CHAT_SCREENSHOT'])('is shown in docs/chat.png', async () => {
    const { postroom } = await users.launch();
    const names = ['Ada', 'Grace', 'Linus', 'Margaret'];
    const people = await Promise.all(names.map((name) => postroom.signUp(name)));
    const [ada = people.at(0), grace = ada, linus = ada, margaret = ada] = people;
    if (!ada || !grace || !linus || !margaret) return;
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
    await postroom.createPost(margaret, room, 'Then we are go for launch.', 'All checks are green, on every node.');
    const [chat, other] = [await users.open(ada, room), await users.open(grace, room)];
    await chat.lists('launch', 'lobby 1 unread', 'kernel 2 unread', 'compilers', 'guidance computer');
    await chat.page.getByText('2 here: Ada, Grace').waitFor();
    await other.page.getByRole('textbox', { name: 'Message', exact: true }).pressSequentially('H');
    await chat.page.getByText('Grace is typing…').waitFor();
    await chat.page.setViewportSize({ width: 1200, height: 520 });
    await chat.page.emulateMedia({ colorScheme: 'light' });
    await chat.page.screenshot({ path: inRepository('docs/chat.png') });
  });

  it('shows each of 300 posts once, in order, in two browsers whose connections are cut twenty times', async () => {
    const { postroom, proxy } = await users.launch();
    const people = [await postroom.signUp('Ada'), await postroom.signUp('Ben')] as const;
    const room = await postroom.createRoom(people[0], 'hall');
    const chats = await Promise.all(people.map((person) => users.open(person, room)));
    const written: string[] = [];
    const write = async (chat: Chat, name: number) => {
      for (let count = 0; count < 150; count += 1) {
        await chat.write(`${name}-${count}`);
        if (written.push(`${name}-${count}`) % 15 === 0) proxy.cut();
      }
    };
    await Promise.all(chats.map(write));
    for (const chat of chats)
      await expect.poll(() => chat.page.getByText(/\((sending…|will be sent again)\)/).count()).toBe(0);
    const shown = await listPosts(postroom, room);
    expect(shown.map(({ title }) => title).sort()).toEqual(written.sort());
    for (const chat of chats) {
      await chat.isIn('Live');
      await expect.poll(() => chat.ids()).toEqual(shown.map(({ id }) => id));
      expect(await chat.item('').count()).toBe(shown.length);
      expect(chat.faults).toEqual([]);
    }
  });
});

/** The titles of the posts that are published, in the order in which they are shown. */
function titles({ page }: Chat): Promise<string[]> {
  return page.locator('[role=log] li[id] > p').allInnerTexts();
}

async function listPosts(postroom: Postroom, room: string): Promise<{ id: string; title: string }[]> {
  const listed = [];
  let after: string | undefined;
  for (;;) {
    const query = `query ($room: ID!, $after: String) {
      room(id: $room) { posts(first: 100, after: $after) { nodes { id title } pageInfo { hasNextPage endCursor } } }
    }`;
    const { room: found } = await postroom.ask(query, { room, after });
    const { nodes, pageInfo } = found.posts;
    listed.push(...nodes);
    if (!pageInfo.hasNextPage) return listed;
    after = pageInfo.endCursor;
  }
}
