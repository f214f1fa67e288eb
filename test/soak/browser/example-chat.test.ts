import { describe, expect, it } from 'vitest';
import { chromiumNote, hasChromium } from '../../support/clients/browser.ts';
import type { Chat } from '../../support/clients/chat.ts';
import { shareChatUsers } from '../../support/clients/chat-users.ts';
import type { Postroom } from '../../support/server/postroom.ts';

describe.skipIf(!hasChromium)(`the connection of the example app${chromiumNote}`, () => {
  const users = shareChatUsers();

  async function launchRoom(settings = {}) {
    const { postroom, proxy } = await users.launch(settings);
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    return { postroom, proxy, ada, room, chat: await users.open(ada, room) };
  }

  it('shows a post at once, says that it failed, and sends it again when the connection is back', async () => {
    const { postroom, proxy, chat } = await launchRoom();
    proxy.freeze('up');
    await chat.write('late');
    await chat.item('late').getByText('Sending…').waitFor();
    proxy.thaw();
    await chat.sent('late').waitFor();

    proxy.retarget('http://127.0.0.1:1');
    await chat.isIn('Reconnecting…');
    await chat.page.getByText('The connection is lost.').waitFor();
    for (const text of ['lost', 'and another']) await chat.write(text);
    await chat.item('lost').getByText('Not sent yet. The server cannot be reached.').waitFor();
    proxy.retarget(postroom.url);
    await expect.poll(() => chat.texts()).toEqual(['late', 'lost', 'and another']);
    await chat.isLive();
    expect(await chat.page.getByRole('alert').count()).toBe(0);
    expect(chat.faults).toEqual([]);
  });

  it('keeps messages that are not sent over a reload of the page, and sends each once, in order', async () => {
    const { postroom, proxy, chat, room } = await launchRoom();
    proxy.retarget('http://127.0.0.1:1');
    await chat.isIn('Reconnecting…');
    for (const text of ['one', 'two', 'three']) await chat.write(text);
    await chat.item('one').getByText('Not sent yet.').waitFor();
    await chat.page.reload();
    proxy.retarget(postroom.url);
    await expect.poll(() => chat.texts()).toEqual(['one', 'two', 'three']);
    await chat.page.reload();
    await expect.poll(() => chat.texts()).toEqual(['one', 'two', 'three']);
    expect(await listPosts(postroom, room)).toHaveLength(3);
    expect(chat.faults).toEqual([]);
  });

  it('says how many messages have arrived after a lost connection is back, and that none is missing', async () => {
    const { postroom, proxy, ada, room, chat } = await launchRoom();
    const ben = await postroom.signUp('Ben');
    const other = await postroom.createRoom(ada, 'attic');
    await chat.lists('attic', 'hall');
    proxy.retarget('http://127.0.0.1:1');
    await chat.isIn('Reconnecting…');
    await postroom.createPost(ben, room, 'one');
    await postroom.createPost(ben, other, 'two');
    await postroom.createPost(ben, other, 'three');
    // On another device.
    await postroom.ask(`mutation { markRead(input: { room: "${other}" }) { room { id } } }`, {}, ada.token);
    await postroom.createPost(ada, room, 'own');
    proxy.retarget(postroom.url);
    await chat.page.getByText('Reconnected, 3 messages while away, 0 missed.').waitFor();
    await chat.item('one').waitFor();
    // Between rooms, events have no order.
    await expect.poll(async () => (await chat.rooms()).sort()).toEqual(['attic', 'hall']);
    expect(chat.faults).toEqual([]);
  });

  it('says how long a user who sends too much has to wait, and then sends the post', async () => {
    const { postroom, ada, chat } = await launchRoom({ RATE_LIMIT: '60', RATE_WINDOW_SECONDS: '10' });
    while ((await postroom.send('{ viewer { id } }', {}, ada.token)).status !== 429);
    await chat.write('late');
    await chat.item('late').getByText('Not sent yet. Too many requests: please wait').waitFor();
    await chat.sent('late').waitFor();
  });

  it('notices a connection that no longer answers, and resumes', async () => {
    const { postroom, proxy, ada, room, chat } = await launchRoom();
    proxy.freeze();
    const id = await postroom.createPost(ada, room, 'Hello');
    await chat.isIn('Reconnecting…');
    proxy.thaw();
    await chat.isIn('Live');
    await expect.poll(() => chat.ids()).toEqual([id]);
  });

  it('loads a room as soon as the server can be reached again', async () => {
    const { postroom, proxy, room, chat } = await launchRoom();
    await chat.page.goto(`${users.app.origin}/#`);
    proxy.retarget('http://127.0.0.1:1');
    const failed = chat.page.waitForEvent('requestfailed');
    await chat.page.goto(`${users.app.origin}/#${room}`);
    await failed;
    await chat.page.getByRole('alert').getByText('The server cannot be reached.').first().waitFor();
    proxy.retarget(postroom.url);
    await chat.page.getByRole('heading', { name: 'hall' }).waitFor();
    await expect.poll(() => chat.page.getByRole('alert').count()).toBe(0);
  });

  it('asks a user whose session has ended to sign in, and continues in the same room', async () => {
    const { postroom, ada, chat } = await launchRoom();
    await postroom.ask(
      'mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { expiresAt } }',
      { input: { currentPassword: ada.password, newPassword: 'horse correct' } },
      ada.token,
    );
    await chat.page.getByText('Your session has ended. Please sign in again.').waitFor();
    await chat.expectAccessible();
    await chat.signIn({ email: ada.email, password: 'horse correct' });
    await chat.isLive();
    await chat.page.getByRole('heading', { name: 'hall' }).waitFor();
    await chat.press('Sign out');
    await chat.page.getByRole('form', { name: 'Sign in' }).waitFor();
    await chat.page.reload();
    await chat.page.getByRole('form', { name: 'Sign in' }).waitFor();
    expect(await chat.page.getByRole('alert').count()).toBe(0);
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
    for (const chat of chats) await expect.poll(() => chat.page.locator('.outgoing').count()).toBe(0);
    const shown = await listPosts(postroom, room);
    expect(shown.map(({ title }) => title).sort()).toEqual(written.sort());
    for (const chat of chats) {
      await chat.isIn('Live');
      await expect.poll(() => chat.scrollUp()).toEqual(shown.map(({ id }) => id));
      expect(chat.faults).toEqual([]);
    }
  });
});

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
