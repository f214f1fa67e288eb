import { describe, expect, it } from 'vitest';
import { chromiumNote, hasChromium } from '../../support/clients/browser.ts';
import { shareChatUsers } from '../../support/clients/chat-users.ts';

describe.skipIf(!hasChromium)(`the messages of the example app${chromiumNote}`, () => {
  const users = shareChatUsers();

  async function launchRoom() {
    const { postroom, proxy } = await users.launch();
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    const chat = await users.open(ada, room);
    const findPosts = async () =>
      (
        await postroom.ask('query ($room: ID!) { room(id: $room) { posts(last: 9) { nodes { title body } } } }', {
          room,
        })
      ).room.posts.nodes;
    return { postroom, proxy, ada, room, chat, findPosts };
  }

  it('keep line breaks, and their first line is the title of the post', async () => {
    const { chat, findPosts } = await launchRoom();
    await chat.message.pressSequentially('one');
    const height = async () => (await chat.message.boundingBox())?.height ?? 0;
    const before = await height();
    await chat.message.press('Shift+Enter');
    await chat.message.pressSequentially('two');
    expect(await height()).toBeGreaterThan(before);
    await chat.message.press('Enter');
    await chat.sent('two').waitFor();
    await chat.page.evaluate(() => navigator.clipboard.writeText('\n  \nthree\n\n\tfour  \n'));
    await chat.message.press('Control+V');
    await chat.message.press('Enter');
    await chat.sent('four').waitFor();
    expect(await chat.texts()).toEqual(['one\ntwo', 'three\n\n\tfour']);
    const long = `${'word '.repeat(50)}${'👩‍👩‍👧 '.repeat(3)}end`;
    await chat.write(long);
    await chat.sent('end').waitFor();
    await chat.write('👩‍👩‍👧'.repeat(50));
    await expect.poll(findPosts).toEqual([
      { title: 'one', body: 'one\ntwo' },
      { title: 'three', body: 'three\n\n\tfour' },
      { title: 'word '.repeat(40).trim(), body: long },
      { title: '👩‍👩‍👧'.repeat(40), body: '👩‍👩‍👧'.repeat(50) },
    ]);
    await chat.message.fill('x'.repeat(20_001));
    await chat.page.getByRole('alert').getByText('20,001 of 20,000 characters').waitFor();
    await chat.message.press('Enter');
    expect(await findPosts()).toHaveLength(4);
    expect(chat.faults).toEqual([]);
  });

  it('show their links, which cannot reach the page, and have the direction of their text', async () => {
    const { postroom, ada, room, chat } = await launchRoom();
    const text = 'See https://example.org/a(b)?c=1. Not javascript:alert(1) or <b>http://</b>';
    await postroom.createPost(ada, room, text);
    await postroom.createPost(ada, room, 'مرحبا');
    await postroom.createPost(ada, room, 'The title', 'of another client');
    await chat.item('مرحبا').waitFor();
    const links = chat.page.getByRole('log').getByRole('link');
    expect(await links.evaluateAll((all) => all.map((link) => link.outerHTML))).toEqual([
      '<a href="https://example.org/a(b)?c=1" target="_blank" rel="noopener noreferrer nofollow">https://example.org/a(b)?c=1</a>',
    ]);
    const directions = chat.page.locator('[role=log] li[id] p');
    await expect
      .poll(() => directions.evaluateAll((all) => all.map((one) => getComputedStyle(one).direction)))
      .toEqual(['ltr', 'rtl', 'ltr']);
    expect(await chat.texts()).toEqual([text, 'مرحبا', 'The title\nof another client']);
  });

  it('of one author that follow each other are a group, and each day has a heading', async () => {
    const { postroom, ada, room, chat } = await launchRoom();
    const ben = await postroom.signUp('Ben 👩‍👩‍👧');
    for (const author of [ada, ada, ben, ada]) await postroom.createPost(author, room, 'Hello');
    await expect.poll(() => chat.texts()).toHaveLength(4);
    const rows = (await chat.page.getByRole('log').getByRole('listitem').allInnerTexts()).map((text) =>
      text.split(/\n+/),
    );
    const times = chat.page.getByRole('log').locator('time');
    const [time] = await times.allInnerTexts();
    expect(rows).toEqual([
      ['Today'],
      ['A', 'Ada', time, 'Hello'],
      [time, 'Hello'],
      ['B', 'Ben 👩‍👩‍👧', expect.any(String), 'Hello'],
      ['A', 'Ada', expect.any(String), 'Hello'],
    ]);
    expect(await times.first().getAttribute('title')).toContain(String(new Date().getFullYear()));
  });

  it('are changed with the arrow key, not by Escape, and are marked', async () => {
    const { postroom, ada, room, chat, findPosts } = await launchRoom();
    const ben = await postroom.signUp('Ben');
    for (const title of ['one', 'two']) await postroom.createPost(ada, room, title);
    await postroom.createPost(ben, room, 'three');
    await chat.item('three').waitFor();
    await chat.message.press('ArrowUp');
    const editor = chat.page.getByRole('textbox', { name: 'Edit message' });
    await expect.poll(() => editor.inputValue()).toBe('two');
    await editor.press('End');
    await editor.pressSequentially(', changed');
    await editor.press('Escape');
    await editor.waitFor({ state: 'detached' });
    await chat.message.press('ArrowUp');
    await expect.poll(() => editor.inputValue()).toBe('two');
    await editor.press('End');
    await editor.press('Shift+Enter');
    await editor.pressSequentially('and more');
    await editor.press('Enter');
    await chat.item('two').getByText('edited').waitFor();
    expect(await findPosts()).toMatchObject([
      { title: 'one', body: null },
      { title: 'two', body: 'two\nand more' },
      { title: 'three' },
    ]);
    expect(await chat.page.getByText('edited').count()).toBe(1);
    expect(chat.faults).toEqual([]);
  });

  it('are deleted after some seconds in which this can be undone, and at once when the page is hidden or the room is left', async () => {
    const { postroom, ada, room, chat, findPosts } = await launchRoom();
    await postroom.createRoom(ada, 'attic');
    for (const title of ['one', 'two', 'three', 'four']) await postroom.createPost(ada, room, title);
    const titles = async () => (await findPosts()).map(({ title }: { title: string }) => title).join(' ');
    const remove = async (text: string) => {
      await chat.item(text).hover();
      await chat.item(text).getByRole('button', { name: 'Delete' }).click();
      await chat.item(text).waitFor({ state: 'detached' });
    };
    await remove('one');
    await chat.press('Undo');
    await chat.item('one').waitFor();
    await remove('two');
    expect(await titles()).toBe('one two three four');
    // The next deletion ends the wait of the last one.
    await remove('three');
    await expect.poll(titles).toBe('one three four');
    await chat.setVisibility('hidden');
    await expect.poll(titles).toBe('one four');
    await chat.setVisibility('visible');
    await remove('four');
    await chat.choose('attic');
    await expect.poll(titles).toBe('one');
    await chat.choose('hall');
    await remove('one');
    await chat.page.goto('about:blank');
    await expect.poll(titles).toBe('');
    expect(chat.faults).toEqual([]);
  });

  it('that the server refuses are kept with the reason, and can be sent again, changed or discarded', async () => {
    const { chat, findPosts } = await launchRoom();
    let isRefused = true;
    await chat.page.route('**/graphql', (route) => {
      if (!isRefused || !route.request().postData()?.includes('createPost')) return route.continue();
      const errors = [{ message: 'You are muted.', extensions: { code: 'FORBIDDEN' } }];
      const headers = { 'access-control-allow-origin': '*' };
      return route.fulfill({ status: 200, headers, contentType: 'application/json', body: JSON.stringify({ errors }) });
    });
    for (const text of ['one', 'two', 'three']) {
      await chat.write(text);
      await chat.item(text).getByRole('alert').getByText('Not sent. You are muted.').waitFor();
    }
    await chat.expectAccessible();
    await chat.page.reload();
    await chat.item('three').getByRole('alert').waitFor();
    isRefused = false;
    const button = (text: string, name: string) => chat.item(text).getByRole('button', { name, exact: true });
    await button('two', 'Discard').click();
    await chat.item('two').waitFor({ state: 'detached' });
    await button('one', 'Send again').click();
    await chat.sent('one').waitFor();
    await button('three', 'Edit').click();
    const editor = chat.page.getByRole('textbox', { name: 'Edit unsent message' });
    await editor.fill('four');
    await editor.press('Enter');
    await chat.sent('four').waitFor();
    await chat.page.reload();
    await expect.poll(() => chat.texts()).toEqual(['one', 'four']);
    expect(await chat.page.locator('.outgoing').count()).toBe(0);
    expect(await findPosts()).toHaveLength(2);
  });

  it('are loaded when the list is scrolled up, in order, and are fewer again at its end', async () => {
    const { postroom, ada, room, chat } = await launchRoom();
    await chat.page.setViewportSize({ width: 1_280, height: 800 });
    const ids: string[] = [];
    for (let index = 0; index < 400; index += 1) ids.push(await postroom.createPost(ada, room, `post ${index}`));
    await chat.page.reload();
    await expect.poll(async () => (await chat.ids()).at(-1)).toBe(ids.at(-1));
    expect((await chat.ids()).length).toBeLessThan(200);
    await expect.poll(() => chat.scrollUp()).toEqual(ids);
    await chat.press('Latest messages');
    await expect.poll(async () => (await chat.ids()).length).toBeLessThan(200);
    expect((await chat.ids()).at(-1)).toBe(ids.at(-1));
    expect(chat.faults).toEqual([]);
  });
});
