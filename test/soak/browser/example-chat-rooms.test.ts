import { describe, expect, it } from 'vitest';
import { chromiumNote, hasChromium } from '../../support/clients/browser.ts';
import type { Chat } from '../../support/clients/chat.ts';
import { shareChatUsers } from '../../support/clients/chat-users.ts';
import type { Person, Postroom } from '../../support/server/postroom.ts';

describe.skipIf(!hasChromium)(`the rooms of the example app${chromiumNote}`, () => {
  const users = shareChatUsers();

  /** Ada owns two rooms, of which Ben is a member. */
  async function launch() {
    const { postroom, proxy } = await users.launch();
    const [ada, ben] = [await postroom.signUp('Ada'), await postroom.signUp('Ben')];
    const [attic, hall] = [await postroom.createRoom(ada, 'attic'), await postroom.createRoom(ada, 'hall')];
    for (const room of [attic, hall]) await joinRoom(postroom, ben, room);
    return { postroom, proxy, ada, ben, attic, hall };
  }

  it('are listed with their unread posts, the latest event first, and are read on all devices when they are opened', async () => {
    const { postroom, ada, ben, attic, hall } = await launch();
    const [phone, laptop] = [await users.open(ben), await users.open(ben)];
    const writer = await users.open(ada, attic);
    for (const chat of [phone, laptop]) await chat.lists('hall', 'attic');
    await writer.write('one');
    for (const chat of [phone, laptop]) await chat.lists('attic 1 unread', 'hall');
    await writer.write('two');
    await writer.choose('hall');
    await writer.write('three');
    for (const chat of [phone, laptop]) await chat.lists('hall 1 unread', 'attic 2 unread');
    await laptop.expectAccessible();

    await laptop.choose('attic');
    for (const chat of [phone, laptop]) await chat.lists('hall 1 unread', 'attic');
    expect(await countUnread(postroom, ben, attic)).toBe(0);
    await writer.choose('attic');
    await writer.write('four');
    await laptop.item('four').waitFor();
    for (const chat of [phone, laptop]) await chat.lists('attic', 'hall 1 unread');
    await writer.lists('attic', 'hall');

    await phone.choose('hall');
    await phone.write('five');
    await writer.lists('hall 1 unread', 'attic');
    expect(await countUnread(postroom, ben, hall)).toBe(0);
    expectNoFaults(phone, laptop, writer);
  });

  it('are followed by one subscription, however many there are', async () => {
    const { postroom, ada, ben, attic, hall } = await launch();
    for (let number = 0; number < 120; number += 1) {
      const room = await postroom.createRoom(ada, `room ${number}`);
      await joinRoom(postroom, ben, room);
    }
    const chat = await users.open(ben);
    await expect.poll(async () => (await chat.rooms()).length).toBe(122);
    for (const room of [attic, hall]) await postroom.createPost(ada, room, 'Hello');
    await expect.poll(async () => (await chat.rooms()).slice(0, 2)).toEqual(['hall 1 unread', 'attic 1 unread']);
    expect(chat.subscriptions).toEqual([expect.stringContaining('inbox(')]);
  });

  it('have the same counts after the connection was cut ten times, also if another device reads a room meanwhile', async () => {
    const { postroom, proxy, ada, ben, attic, hall } = await launch();
    const chat = await users.open(ben);
    await chat.lists('hall', 'attic');
    for (let count = 1; count <= 30; count += 1) {
      await postroom.createPost(ada, attic, `post ${count}`);
      await postroom.createPost(ada, hall, `post ${count}`);
      if (count % 3 === 0) proxy.cut();
    }
    await chat.lists('hall 30 unread', 'attic 30 unread');

    proxy.retarget('http://127.0.0.1:1');
    await markRead(postroom, ben, attic);
    await postroom.createPost(ada, hall, 'one more');
    proxy.retarget(postroom.url);
    await chat.lists('hall 31 unread', 'attic');
    expectNoFaults(chat);
  });

  it('come and go as the viewer joins, leaves, creates and loses rooms', async () => {
    const { postroom, ada, ben, attic } = await launch();
    const lobby = await postroom.createRoom(ada, 'lobby');
    const chat = await users.open(ben, lobby);
    await chat.lists('hall', 'attic');
    await chat.press('Join');
    await chat.lists('lobby', 'hall', 'attic');
    await postroom.createPost(ada, attic, 'Hello');
    await chat.lists('attic 1 unread', 'lobby', 'hall');
    await chat.press('Leave');
    await chat.lists('attic 1 unread', 'hall');
    await postroom.ask(
      'mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }',
      { id: attic },
      ada.token,
    );
    await chat.lists('hall');
    await chat.page.getByRole('textbox', { name: 'New room' }).fill('cellar');
    await chat.press('Create room');
    await chat.lists('cellar', 'hall');
    await chat.isIn('Live');
    const cellar = new URL(chat.page.url()).hash.slice(1);
    await chat.choose('hall');
    await postroom.createPost(ada, cellar, 'Hello');
    await chat.lists('cellar 1 unread', 'hall');
    expectNoFaults(chat);
  });

  it('are marked as read at most once in three seconds, however fast the posts arrive', async () => {
    const { postroom, ada, ben, attic, hall } = await launch();
    const [reader, other] = [await users.open(ben, hall), await users.open(ben, attic)];
    await reader.lists('hall', 'attic');
    await other.lists('hall', 'attic');
    const queried = other.count('JoinedRooms');
    const startedAt = Date.now();
    for (let number = 1; number <= 40; number += 1) {
      await postroom.createPost(ada, hall, `post ${number}`);
      await reader.item(`post ${number}`).first().waitFor();
    }
    await expect.poll(() => countUnread(postroom, ben, hall)).toBe(0);
    await other.lists('hall', 'attic');
    const intervals = Math.ceil((Date.now() - startedAt) / 3_000);
    expect(reader.count('MarkRead')).toBeLessThanOrEqual(1 + intervals);
    expect(other.count('JoinedRooms') - queried).toBeLessThanOrEqual(1 + intervals);
    expectNoFaults(reader, other);
  });

  it('are marked as read when the viewer leaves them, with no post that arrives afterwards', async () => {
    const { postroom, ada, ben, hall } = await launch();
    const chat = await users.open(ben, hall);
    for (const title of ['one', 'two']) {
      await postroom.createPost(ada, hall, title);
      await chat.item(title).waitFor();
      await chat.lists('hall', 'attic');
    }
    await chat.choose('attic');
    await expect.poll(() => countUnread(postroom, ben, hall)).toBe(0);
    await postroom.createPost(ada, hall, 'three');
    await chat.lists('hall 1 unread', 'attic');
    expect(chat.count('MarkRead')).toBe(2);
    expect(await countUnread(postroom, ben, hall)).toBe(1);
  });

  it('that another device creates are listed with their first event', async () => {
    const { postroom, ben } = await launch();
    const chat = await users.open(ben);
    await chat.lists('hall', 'attic');
    const cellar = await postroom.createRoom(ben, 'cellar');
    await postroom.createPost(ben, cellar, 'Hello');
    await chat.lists('cellar', 'hall', 'attic');
    expectNoFaults(chat);
  });

  it('are not read while the page is hidden', async () => {
    const { postroom, ada, ben, hall } = await launch();
    const chat = await users.open(ben, hall);
    await setVisibility(chat, 'hidden');
    await postroom.createPost(ada, hall, 'Hello');
    await chat.item('Hello').waitFor();
    await chat.lists('hall 1 unread', 'attic');
    await setVisibility(chat, 'visible');
    await chat.lists('hall', 'attic');
    await expect.poll(() => countUnread(postroom, ben, hall)).toBe(0);
  });

  it('show who is present and who is typing, until they post or go', async () => {
    const { ada, ben, hall } = await launch();
    const [one, other] = [await users.open(ada, hall), await users.open(ben, hall)];
    for (const chat of [one, other]) await chat.page.getByText('2 here: Ada, Ben').waitFor();
    await other.page.getByRole('textbox', { name: 'Message', exact: true }).pressSequentially('Hel');
    await one.page.getByText('Ben is typing…').waitFor();
    await one.expectAccessible();
    await other.write('Hello');
    await one.item('Hello').waitFor();
    await one.page.getByText('Ben is typing…').waitFor({ state: 'detached' });
    const message = other.page.getByRole('textbox', { name: 'Message', exact: true });
    const reported: unknown[] = [];
    other.page.on('request', (request) => {
      const { operationName, variables } = request.postDataJSON() ?? {};
      if (operationName === 'SetTyping') reported.push(variables.input.typing);
    });
    await message.pressSequentially('A');
    await one.page.getByText('Ben is typing…').waitFor();
    await message.press('Backspace');
    await one.page.getByText('Ben is typing…').waitFor({ state: 'detached' });
    await message.pressSequentially('A');
    await one.page.getByText('Ben is typing…').waitFor();
    await other.choose('attic');
    await expect.poll(() => reported).toEqual([true, false, true, false]);
    await other.choose('hall');
    await message.pressSequentially('A');
    await one.page.getByText('Ben is typing…').waitFor();
    await other.page.close();
    await one.page.getByText('1 here: Ada').waitFor();
    await one.page.getByText('Ben is typing…').waitFor({ state: 'detached' });
    expectNoFaults(one, other);
  });
});

function joinRoom(postroom: Postroom, { token }: Person, room: string): Promise<unknown> {
  return postroom.ask('mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }', { room }, token);
}

function markRead(postroom: Postroom, { token }: Person, room: string): Promise<unknown> {
  return postroom.ask('mutation ($room: ID!) { markRead(input: { room: $room }) { room { id } } }', { room }, token);
}

async function countUnread(postroom: Postroom, { token }: Person, room: string): Promise<number> {
  return (await postroom.ask('query ($room: ID!) { room(id: $room) { unread } }', { room }, token)).room.unread;
}

/** Browsers without a window show every page. */
function setVisibility({ page }: Chat, state: DocumentVisibilityState): Promise<void> {
  return page.evaluate((visibilityState) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: visibilityState });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
}

function expectNoFaults(...chats: Chat[]): void {
  expect(chats.flatMap(({ faults }) => faults)).toEqual([]);
}
