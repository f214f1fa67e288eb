import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chromiumNote, hasChromium } from '../../support/clients/browser.ts';
import type { Chat } from '../../support/clients/chat.ts';
import { shareChatUsers } from '../../support/clients/chat-users.ts';
import { createFaultProxy } from '../../support/clients/fault-proxy.ts';
import { launchProcessForTest, scratchFolder, unbundledProgram } from '../../support/server/postroom.ts';

const EXTENSIONS = './examples/extensions/tasks';
const joinRoom = 'mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }';

describe.skipIf(!hasChromium)(`the board of the example app${chromiumNote}`, () => {
  const users = shareChatUsers();

  /** Ada's room, which Ben has joined, and its board in the browser of each. */
  async function openBoards() {
    const { postroom, proxy } = await users.launch({ EXTENSIONS });
    const [ada, ben] = [await postroom.signUp('Ada'), await postroom.signUp('Ben')];
    const room = await postroom.createRoom(ada, 'launch');
    await postroom.ask(joinRoom, { room }, ben.token);
    const boards = [
      await openBoard(await users.open(ada, room)),
      await openBoard(await users.open(ben, room)),
    ] as const;
    return { postroom, proxy, ada, room, boards };
  }

  it('shows what others add, move and drag, in the same order', async () => {
    const { boards } = await openBoards();
    const [ada, ben] = boards;
    for (const title of ['Fuel', 'Wind', 'Radio']) await add(ada, title);
    await expect.poll(() => tasksOf(ben)).toEqual({ 'To do': ['Fuel', 'Wind', 'Radio'], Doing: [], Done: [] });
    await ben.press('Move Radio up');
    await expect.poll(() => tasksOf(ada)).toEqual({ 'To do': ['Fuel', 'Radio', 'Wind'], Doing: [], Done: [] });
    await ada.press('Move Fuel to Doing');
    await expect.poll(() => tasksOf(ben)).toEqual({ 'To do': ['Radio', 'Wind'], Doing: ['Fuel'], Done: [] });
    await card(ben, 'Wind').dragTo(card(ben, 'Fuel'));
    await expect.poll(() => tasksOf(ada)).toEqual({ 'To do': ['Radio'], Doing: ['Wind', 'Fuel'], Done: [] });
    await card(ada, 'Fuel').dragTo(column(ada, 'Done'));
    const last = { 'To do': ['Radio'], Doing: ['Wind'], Done: ['Fuel'] };
    for (const board of boards) await expect.poll(() => tasksOf(board)).toEqual(last);
    // The messages of the room are as they were.
    await ada.press('Board');
    await ada.write('Go');
    await ada.sent('Go').waitFor();
    for (const { faults } of boards) expect(faults).toEqual([]);
  });

  it('says that a task was changed by somebody else meanwhile, and moves it at the next attempt', async () => {
    const { boards } = await openBoards();
    const [ada, ben] = boards;
    await add(ada, 'Fuel');
    await card(ben, 'Fuel').waitFor();
    const { promise, resolve: release } = Promise.withResolvers<void>();
    await ada.page.route('**/graphql', async (route) => {
      if (route.request().postDataJSON().query.includes('moveTask')) await promise;
      await route.continue();
    });
    await ada.press('Move Fuel to Doing');
    await ben.press('Move Fuel to Doing');
    await column(ada, 'Doing').getByText('Fuel').waitFor();
    release();
    await ada.page.getByRole('alert').getByText('The task was not moved').waitFor();
    await ada.expectAccessible();
    await ada.press('Move Fuel to Done');
    for (const board of boards)
      await expect.poll(() => tasksOf(board)).toEqual({ 'To do': [], Doing: [], Done: ['Fuel'] });
    expect(await ada.page.getByRole('alert').count()).toBe(0);
  });

  it('is used with the keyboard alone, which keeps its place, and axe-core finds no violation', async () => {
    const { boards } = await openBoards();
    const [ada] = boards;
    const { keyboard } = ada.page;
    await ada.tabTo(ada.page.getByLabel('New task'));
    for (const title of ['Fuel', 'Wind']) {
      await keyboard.type(title);
      await keyboard.press('Enter');
      await card(ada, title).waitFor();
    }
    await ada.expectAccessible();
    await ada.tabTo(button(ada, 'Move Wind up'));
    await keyboard.press('Enter');
    await expect.poll(() => tasksOf(ada)).toEqual({ 'To do': ['Wind', 'Fuel'], Doing: [], Done: [] });
    await ada.tabTo(button(ada, 'Move Wind to Doing'));
    for (const name of ['Doing', 'Done']) {
      await keyboard.press('Enter');
      await column(ada, name).getByText('Wind').waitFor();
    }
    await ada.tabTo(button(ada, 'Move Wind to Doing'), 'Shift+Tab');
    await keyboard.press('Enter');
    await expect.poll(() => tasksOf(ada)).toEqual({ 'To do': ['Fuel'], Doing: ['Wind'], Done: [] });
    await ada.expectAccessible();
    for (const width of [390, 1_280]) {
      await ada.page.setViewportSize({ width, height: 844 });
      const tooWide = () =>
        ada.page.evaluate(() =>
          [...document.querySelectorAll('html, .room, .board, .columns > section')].filter(
            ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth,
          ),
        );
      expect(await tooWide()).toEqual([]);
    }
    expect(ada.faults).toEqual([]);
  });

  it('continues after its server was killed and started again, and misses no change', async () => {
    const settings = {
      EXTENSIONS,
      ALLOWED_ORIGINS: users.app.origin,
      DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}`,
    };
    const first = await launchProcessForTest(settings, unbundledProgram);
    const proxy = await createFaultProxy(first.url, users.app.serverPort);
    onTestFinished(() => proxy.close());
    const ada = await first.signUp('Ada');
    const room = await first.createRoom(ada, 'launch');
    const board = await openBoard(await users.open(ada, room));
    await add(board, 'Fuel');
    await card(board, 'Fuel').waitFor();
    const queries = board.count('tasks(first');
    await first.kill();
    await board.isIn('Reconnecting…');
    await board.press('Move Fuel to Doing');
    await board.page.getByRole('alert').getByText('The server cannot be reached.').waitFor();
    const second = await launchProcessForTest(settings, unbundledProgram);
    const addTask = 'mutation ($room: ID!) { addTask(input: { room: $room, title: "Wind" }) { task { id } } }';
    await second.ask(addTask, { room }, ada.token);
    proxy.retarget(second.url);
    await board.isIn('Live');
    await expect.poll(() => tasksOf(board)).toEqual({ 'To do': ['Fuel', 'Wind'], Doing: [], Done: [] });
    await board.press('Move Fuel to Doing');
    await expect.poll(() => tasksOf(board)).toEqual({ 'To do': ['Wind'], Doing: ['Fuel'], Done: [] });
    // The second connection has received the events, and nothing was queried again.
    expect(board.count('tasks(first')).toBe(queries);
    expect(board.faults).toEqual([]);
  });

  it('is only read by users who are not members', async () => {
    const { postroom, room } = await openBoards();
    const visitor = await openBoard(await users.open(await postroom.signUp('Eve'), room));
    await visitor.page.getByRole('region', { name: 'Done' }).waitFor();
    expect(await visitor.page.getByLabel('New task').count()).toBe(0);
    await visitor.expectAccessible();
  });

  it('is not offered by a server without tasks', async () => {
    const { postroom } = await users.launch();
    const ada = await postroom.signUp('Ada');
    const chat = await users.open(ada, await postroom.createRoom(ada, 'launch'));
    await expect.poll(() => chat.count('__type(name: "Task")')).toBe(1);
    await chat.write('Hello');
    await chat.sent('Hello').waitFor();
    expect(await button(chat, 'Board').count()).toBe(0);
    expect(chat.faults).toEqual([]);
  });
});

async function openBoard(chat: Chat): Promise<Chat> {
  await chat.press('Board');
  await chat.page.getByRole('region', { name: 'Board' }).and(chat.page.locator('[aria-busy=false]')).waitFor();
  return chat;
}

async function add({ page }: Chat, title: string): Promise<void> {
  await page.getByLabel('New task').fill(title);
  await page.getByLabel('New task').press('Enter');
  await card({ page }, title).waitFor();
}

function button({ page }: Pick<Chat, 'page'>, name: string) {
  return page.getByRole('button', { name, exact: true });
}

function column({ page }: Pick<Chat, 'page'>, name: string) {
  return page.getByRole('region', { name, exact: true });
}

function card({ page }: Pick<Chat, 'page'>, title: string) {
  return page.locator('.board li').filter({ hasText: title });
}

/** The titles of the tasks by column, in the order in which they are shown. */
async function tasksOf(chat: Chat): Promise<Record<string, string[]>> {
  const names = ['To do', 'Doing', 'Done'];
  const titles = names.map((name) => column(chat, name).locator('li > p').allInnerTexts());
  return Object.fromEntries((await Promise.all(titles)).map((found, index) => [names[index], found]));
}
