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
    await expect.poll(() => phone.page.title()).toBe('(3) Postroom');

    await laptop.choose('attic');
    for (const chat of [phone, laptop]) await chat.lists('hall 1 unread', 'attic');
    await expect.poll(() => laptop.page.title()).toBe('(1) attic');
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
    await expect.poll(async () => (await chat.rooms()).sort()).toEqual(['attic', 'hall 31 unread']);
    expectNoFaults(chat);
  });

  it('come and go as the viewer joins, leaves, creates, deletes and loses rooms', async () => {
    const { postroom, ada, ben, attic } = await launch();
    const lobby = await postroom.createRoom(ada, 'lobby');
    const chat = await users.open(ben, lobby);
    await chat.lists('hall', 'attic');
    await chat.press('Join');
    await chat.lists('lobby', 'hall', 'attic');
    await postroom.createPost(ada, attic, 'Hello');
    await chat.lists('attic 1 unread', 'lobby', 'hall');
    await chat.press('Members');
    await chat.press('Leave room');
    await chat.lists('attic 1 unread', 'hall');
    await deleteRoom(postroom, ada, attic);
    await chat.lists('hall');
    const cellar = await chat.createRoom('cellar');
    await chat.isLive();
    await chat.lists('cellar', 'hall');
    await chat.choose('hall');
    await postroom.createPost(ada, cellar, 'Hello');
    await chat.lists('cellar 1 unread', 'hall');
    await chat.choose('cellar');
    await chat.press('Members');
    await chat.page.getByText('Delete room…').click();
    await chat.press('Delete for everybody');
    await chat.lists('hall');
    await chat.page.getByRole('heading', { name: 'Choose a room' }).waitFor();
    expectNoFaults(chat);
  });

  it('that are public can be searched and joined', async () => {
    const { postroom, ada, ben } = await launch();
    for (const name of ['garden', 'garage']) await postroom.createRoom(ada, name);
    const chat = await users.open(ben);
    await chat.press('Browse rooms');
    const found = chat.page.getByRole('list', { name: 'Found' }).getByRole('listitem');
    await expect.poll(() => found.allInnerTexts()).toHaveLength(4);
    await chat.page.getByLabel('Name of a room').fill('gar');
    await chat.page.getByLabel('Name of a room').press('Enter');
    await expect.poll(() => found.allInnerTexts()).toHaveLength(2);
    await chat.press('Join garden');
    await chat.page.getByRole('heading', { name: 'garden' }).waitFor();
    await chat.lists('garden', 'hall', 'attic');
    expectNoFaults(chat);
  });

  it('that are private are shown to the people who are added, until they are removed', async () => {
    const { ada, ben } = await launch();
    const owner = await users.open(ada);
    const room = await owner.createRoom('vault', true);
    const guest = await users.open(ben);
    await guest.page.goto(`${users.app.origin}/#${room}`);
    await guest.page.getByText('This room is not available.').waitFor();

    await owner.press('Members');
    await owner.page.getByText('Add people').click();
    await owner.page.getByLabel('Name of a person').fill('Ben');
    await owner.press('Search');
    await owner.press('Add Ben');
    await owner.page.getByRole('button', { name: 'Remove Ben' }).waitFor();
    await guest.press('Try again');
    await guest.isLive();
    await guest.write('Thank you');
    await owner.item('Thank you').waitFor();
    await owner.press('Remove Ben');
    await guest.page.getByText('This room is not available.').waitFor();
    await guest.lists('hall', 'attic');
    expectNoFaults(owner, guest);
  });

  it('of two people have a name of their own after one of the accounts was deleted', async () => {
    const { postroom, ada, ben } = await launch();
    const open = `mutation { openDirectRoom(input: { user: "${ada.id}" }) { room { id } } }`;
    const { openDirectRoom } = await postroom.ask(open, {}, ben.token);
    await postroom.ask(`mutation { deleteUser(input: { id: "${ben.id}" }) { user { id } } }`, {}, ben.token);
    const chat = await users.open(ada, openDirectRoom.room.id);
    await chat.page.getByRole('heading', { name: 'Former direct message', exact: true }).waitFor();
    expect(await chat.rooms()).toContain('Former direct message');
    expect(await chat.rooms('Direct messages')).toEqual([]);
    expectNoFaults(chat);
  });

  it('of two people are opened from a list of people or of members, and are the same for both', async () => {
    const { postroom, ada, ben, hall } = await launch();
    const [one, other] = [await users.open(ada, hall), await users.open(ben)];
    await one.press('Members');
    await one.press('Message Ben');
    await one.page.getByRole('heading', { name: 'Ben' }).waitFor();
    await one.write('Hello, Ben');
    await expect.poll(() => one.rooms('Direct messages')).toEqual([expect.stringMatching(/Ben$/)]);
    await expect.poll(() => other.rooms('Direct messages')).toEqual([expect.stringMatching(/Ada 1 unread$/)]);
    await other.press('New direct message');
    await other.press('Message Ada');
    await other.item('Hello, Ben').waitFor();
    expect(other.page.url()).toBe(one.page.url());
    await other.lists('hall', 'attic');
    await other.press('Members');
    await other.press('Leave room');
    await expect.poll(() => other.rooms('Direct messages')).toEqual([]);
    await one.item('Hello, Ben').waitFor();
    expect(await one.rooms('Direct messages')).toEqual([expect.stringMatching(/Ben$/)]);

    // A room whose name only claims to be that of two people.
    const eve = await postroom.signUp('Eve');
    const name = 'Ada, Ben';
    const text =
      'mutation ($name: String!) { createRoom(input: { name: $name, visibility: PRIVATE }) { room { id } } }';
    const { createRoom } = await postroom.ask(text, { name }, eve.token);
    const add = 'mutation ($input: AddRoomMemberInput!) { addRoomMember(input: $input) { room { id } } }';
    await postroom.ask(add, { input: { room: createRoom.room.id, user: ada.id } }, eve.token);
    await one.lists(name, 'hall', 'attic');
    expectNoFaults(one, other);
  });

  it('are marked as read at most once in two seconds, however fast the posts arrive', async () => {
    const { postroom, ada, ben, hall } = await launch();
    const reader = await users.open(ben, hall);
    await reader.lists('hall', 'attic');
    const startedAt = Date.now();
    for (let number = 1; number <= 40; number += 1) {
      await postroom.createPost(ada, hall, `post ${number}`);
      await reader.item(`post ${number}`).first().waitFor();
    }
    await expect.poll(() => countUnread(postroom, ben, hall)).toBe(0);
    const intervals = Math.ceil((Date.now() - startedAt) / 2_000);
    expect(reader.count('markRead(')).toBeLessThanOrEqual(1 + intervals);
    expectNoFaults(reader);
  });

  it('are marked as read when the viewer leaves them, with no post that arrives afterwards', async () => {
    const { postroom, ada, ben, hall } = await launch();
    const chat = await users.open(ben, hall);
    for (const title of ['one', 'two']) {
      await postroom.createPost(ada, hall, title);
      await chat.item(title).waitFor();
    }
    await chat.choose('attic');
    await expect.poll(() => countUnread(postroom, ben, hall)).toBe(0);
    await postroom.createPost(ada, hall, 'three');
    await chat.lists('hall 1 unread', 'attic');
    expect(chat.count('markRead(')).toBe(2);
    expect(await countUnread(postroom, ben, hall)).toBe(1);
  });

  it('are read only as far as they were seen: not the posts below the visible part, nor those that arrive there', async () => {
    const { postroom, ada, ben, hall } = await launch();
    for (let number = 1; number <= 60; number += 1)
      await postroom.createPost(ada, hall, `post ${number}`, 'three\nmore\nlines');
    const chat = await users.open(ben);
    await chat.page.setViewportSize({ width: 1_280, height: 800 });
    await chat.choose('hall');
    const unread = () => countUnread(postroom, ben, hall);
    // It opens at the first unread post, which follows the line.
    await chat.page.getByRole('log').getByText('New', { exact: true }).waitFor();
    const below = chat.page.getByRole('button', { name: /\d+ new messages/ });
    const countBelow = async () => Number.parseInt(await below.innerText(), 10);
    await expect.poll(async () => (await countBelow()) - (await unread())).toBe(0);
    const before = await unread();
    expect(60 - before).toBe(await countVisible(chat));
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(60);
    await postroom.createPost(ada, hall, 'one more');
    await expect.poll(countBelow).toBe(before + 1);
    expect(await unread()).toBe(before + 1);
    await below.click();
    await expect.poll(unread).toBe(0);
    await below.waitFor({ state: 'detached' });

    // What the viewer reads does not move. The line "New" would: it is gone when the room is opened again.
    for (const room of ['attic', 'hall']) await chat.choose(room);
    await chat.page.getByRole('log').press('Home');
    const read = chat.item('post 9');
    await expect.poll(async () => (await chat.item('post 1').first().boundingBox())?.y ?? -1).toBeGreaterThan(0);
    const { y: place = 0 } = (await read.boundingBox()) ?? {};
    await postroom.createPost(ada, hall, 'and another');
    await chat.page.getByRole('button', { name: '1 new message', exact: true }).waitFor();
    expect(Math.abs(((await read.boundingBox())?.y ?? 0) - place)).toBeLessThan(3);
    expect(await unread()).toBe(1);
    expectNoFaults(chat);
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

  it('are not read while the page is hidden, and show then where the new posts begin', async () => {
    const { postroom, ada, ben, hall } = await launch();
    await postroom.createPost(ada, hall, 'old');
    const chat = await users.open(ben, hall);
    await expect.poll(() => countUnread(postroom, ben, hall)).toBe(0);
    await chat.setVisibility('hidden');
    await postroom.createPost(ada, hall, 'Hello');
    await chat.item('Hello').waitFor();
    await chat.lists('hall 1 unread', 'attic');
    await expect.poll(() => chat.page.title()).toBe('(1) hall');
    expect(await countUnread(postroom, ben, hall)).toBe(1);
    await chat.setVisibility('visible');
    await chat.lists('hall', 'attic');
    await expect.poll(() => countUnread(postroom, ben, hall)).toBe(0);
    const rows = await chat.page.getByRole('log').getByRole('listitem').allInnerTexts();
    expect(rows.map((text) => text.split('\n').at(-1))).toEqual(['Today', 'old', 'New', 'Hello']);
  });

  it('show who is present and who is typing, until they post or go', async () => {
    const { ada, ben, hall } = await launch();
    const [one, other] = [await users.open(ada, hall), await users.open(ben, hall)];
    for (const chat of [one, other]) await chat.page.getByText('2 here: Ada, Ben').waitFor();
    const isTyping = one.page.getByText('Ben is typing…');
    await other.message.pressSequentially('Hel');
    await isTyping.waitFor();
    await other.write('Hello');
    await one.item('Hello').waitFor();
    await isTyping.waitFor({ state: 'detached' });
    await other.message.pressSequentially('A');
    await isTyping.waitFor();
    await other.message.press('Backspace');
    await isTyping.waitFor({ state: 'detached' });
    await other.message.pressSequentially('A');
    await isTyping.waitFor();
    await other.choose('attic');
    await isTyping.waitFor({ state: 'detached' });
    await other.choose('hall');
    await expect.poll(() => other.message.inputValue()).toBe('A');
    await other.message.pressSequentially('B');
    await isTyping.waitFor();
    await other.page.close();
    await one.page.getByText('1 here: Ada').waitFor();
    await isTyping.waitFor({ state: 'detached' });
    expectNoFaults(one, other);
  });
});

/** The number of posts of which at least a line is in the visible part of the list. */
function countVisible({ page }: Chat): Promise<number> {
  return page.getByRole('log').evaluate((list) => {
    const { top, bottom } = list.getBoundingClientRect();
    const boxes = [...list.querySelectorAll('li[id]')].map((item) => item.getBoundingClientRect());
    return boxes.filter((box) => box.bottom > top && box.top < bottom - 16).length;
  });
}

function joinRoom(postroom: Postroom, { token }: Person, room: string): Promise<unknown> {
  return postroom.ask('mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }', { room }, token);
}

function deleteRoom(postroom: Postroom, { token }: Person, id: string): Promise<unknown> {
  return postroom.ask('mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }', { id }, token);
}

function markRead(postroom: Postroom, { token }: Person, room: string): Promise<unknown> {
  return postroom.ask('mutation ($room: ID!) { markRead(input: { room: $room }) { room { id } } }', { room }, token);
}

async function countUnread(postroom: Postroom, { token }: Person, room: string): Promise<number> {
  return (await postroom.ask('query ($room: ID!) { room(id: $room) { unread } }', { room }, token)).room.unread;
}

function expectNoFaults(...chats: Chat[]): void {
  expect(chats.flatMap(({ faults }) => faults)).toEqual([]);
}
