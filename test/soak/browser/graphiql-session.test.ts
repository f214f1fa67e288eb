import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumNote, Graphiql, hasChromium, launchBrowser, newVisitor } from '../../support/clients/browser.ts';
import {
  launchForTest,
  type Person,
  type Postroom,
  scratchFolder,
  startInProcess,
} from '../../support/server/postroom.ts';

const viewerQuery = 'query Viewer { viewer { email } }';
const sessionEnded = 'Your session has expired or was revoked. Sign in again.';

describe.skipIf(!hasChromium)(`the session of GraphiQL${chromiumNote}`, () => {
  let browser: Browser;
  let shared: Postroom;

  beforeAll(async () => {
    browser = await launchBrowser();
    shared = await startInProcess({ SIGN_IN_ATTEMPTS: '100', RATE_LIMIT: '0' });
  });

  afterAll(async () => {
    await browser?.close();
    await shared?.stop();
  });

  async function open({ graphqlUrl }: Postroom = shared): Promise<Graphiql> {
    return Graphiql.open(await newVisitor(browser), graphqlUrl);
  }

  async function signIn(graphiql: Graphiql, { email, password }: Person): Promise<void> {
    await graphiql.choose('SignUp');
    await graphiql.write('variables', JSON.stringify({ credentials: { email, password } }));
    await graphiql.play('SignIn');
    await graphiql.shows({ data: { signIn: { accessToken: expect.any(String) } } });
  }

  async function run(graphiql: Graphiql, query: string): Promise<void> {
    await graphiql.write('query', query);
    await graphiql.play();
  }

  async function revokeSessions({ token, password }: Person): Promise<void> {
    await shared.ask(
      'mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { accessToken } }',
      { input: { currentPassword: password, newPassword: `${password}!` } },
      token,
    );
  }

  it.each([
    'LookAround',
    'CreatePost',
    'WatchRoom',
  ])('on an empty server, from the tab %s, a live event is two clicks away', async (tab) => {
    const graphiql = await open(await launchForTest());
    if (tab !== 'LookAround') await graphiql.choose(tab);
    const before = await graphiql.clicks();
    await graphiql.press('Try it');
    await graphiql.live();
    await graphiql.settled('CreatePost');
    await expect.poll(() => graphiql.notice()).toMatch(/^The room “Demo [0-9a-f]{6}” is ready\. Next: press play/);
    await graphiql.play();
    await graphiql.showsLive({ roomEvents: { __typename: 'PostCreated', post: { title: 'Hello' } } });
    expect((await graphiql.clicks()) - before).toBe(2);
    expect(await graphiql.notice()).toMatch(/^The post has arrived as a live event\./);
    expect(graphiql.faults).toEqual([]);
  });

  it('"Try it" creates the room for the user who is signed in', async () => {
    const postroom = await launchForTest();
    const ada = await postroom.signUp('Ada');
    const graphiql = await open(postroom);
    await signIn(graphiql, ada);
    await graphiql.press('Try it');
    await graphiql.live();
    expect(await postroom.ask('{ rooms { data { owner { id } } } }')).toEqual({
      rooms: { data: [{ owner: { id: ada.id } }] },
    });
  });

  it('on a server with closed sign-up, "Try it" is offered to users who are signed in, and the tab SignUp shows the refusal', async () => {
    const settings = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
    const earlier = await launchForTest(settings);
    const ada = await earlier.signUp('Ada');
    await earlier.stop();
    const graphiql = await open(await launchForTest({ ...settings, SIGN_UP: 'closed' }));
    expect(await graphiql.offersToTry()).toBe(false);
    expect(await graphiql.guide()).toContain('accounts are created by its operator');
    await graphiql.choose('SignUp');
    await graphiql.play('SignUp');
    const message = 'Sign-up is closed: ask the operator of this server for an account.';
    await graphiql.shows({ data: { signUp: null }, errors: [{ message, extensions: { code: 'FORBIDDEN' } }] });
    await graphiql.showsInBar('Not signed in');
    await signIn(graphiql, ada);
    await graphiql.press('Try it');
    await graphiql.live();
    await graphiql.press('Sign out');
    expect(await graphiql.offersToTry()).toBe(false);
  });

  it('on a server with rooms, "Try it" creates a room of the visitor', async () => {
    await shared.createRoom(await shared.signUp('Ada'), randomUUID());
    const graphiql = await open();
    await graphiql.press('Try it');
    await graphiql.live();
    await graphiql.settled('CreatePost');
    await graphiql.play();
    await graphiql.showsLive({ roomEvents: { __typename: 'PostCreated' } });
  });

  it('a refusal of "Try it" is shown, and the button remains', async () => {
    const graphiql = await open(await launchForTest({ SIGN_IN_ATTEMPTS: '1' }));
    await graphiql.press('Try it');
    await graphiql.live();
    await graphiql.press('Sign out');
    await graphiql.press('Try it');
    await expect.poll(() => graphiql.notice()).toContain('Too many');
    expect(await graphiql.offersToTry()).toBe(true);
  });

  it('"Try it" is not offered by a server that runs only trusted documents', async () => {
    const file = join(scratchFolder(), 'documents.json');
    writeFileSync(file, JSON.stringify({ viewer: '{ viewer { id } }' }));
    const page = await (await newVisitor(browser)).newPage();
    await page.goto((await launchForTest({ TRUSTED_DOCUMENTS: file })).graphqlUrl);
    // GraphiQL shows over it that its introspection query is refused.
    await page.getByText('This server runs only trusted documents.').waitFor({ state: 'attached' });
    expect(await page.getByRole('button', { name: 'Try it' }).isVisible()).toBe(false);
  });

  it('a newcomer signs up, creates a private room, and watches it while posting, and copies nothing', async () => {
    const graphiql = await open();
    await graphiql.choose('SignUp');
    const variables = JSON.parse(await graphiql.read('variables'));
    const room = { name: randomUUID(), visibility: 'PRIVATE' };
    await graphiql.write('variables', JSON.stringify({ ...variables, room }));
    await graphiql.play('SignUp');
    await graphiql.showsInBar(`Signed in as ${variables.account.name}`);
    await graphiql.play('CreateRoom');
    const created = await graphiql.shows({ data: { createRoom: { room: { name: room.name } } } });
    const { id } = created.data.createRoom.room;

    await graphiql.choose('WatchRoom');
    expect(JSON.parse(await graphiql.read('variables'))).toEqual({ room: id });
    const closed = graphiql.page.waitForEvent('websocket').then((socket) => socket.waitForEvent('close'));
    await graphiql.play();
    await graphiql.live();
    await graphiql.choose('CreatePost');
    for (const count of [1, 2]) {
      await graphiql.play();
      await graphiql.shows({ data: { createPost: { post: { room: { name: room.name } } } } });
      await expect.poll(() => graphiql.page.locator('#live-events li').count()).toBe(count);
    }
    const sockets = graphiql.requested.filter((url) => url.startsWith('ws'));
    expect(sockets).toHaveLength(1);
    await graphiql.press('Close');
    await closed;
    expect(graphiql.faults).toEqual([]);
  });

  it('a subscription shows its events in its tab, and ends with its stop button or with its tab', async () => {
    const ada = await shared.signUp('Ada');
    const room = await shared.createRoom(ada, randomUUID());
    const graphiql = await open();
    await graphiql.choose('WatchRoom');
    await graphiql.write('variables', JSON.stringify({ room }));
    const closed = () => graphiql.page.waitForEvent('websocket').then((socket) => socket.waitForEvent('close'));
    const stopped = closed();
    await graphiql.play();
    await graphiql.live();
    await shared.createPost(ada, room, 'first');
    await graphiql.shows({ data: { roomEvents: { post: { title: 'first' } } } });
    await graphiql.play();
    await stopped;
    const closedWithTab = closed();
    const received = graphiql.received.length;
    await graphiql.play();
    await expect.poll(() => graphiql.received.length).toBeGreaterThan(received + 1);
    await graphiql.page.getByRole('tab', { name: 'WatchRoom' }).getByLabel('Close Tab').click();
    await closedWithTab;
    expect(await graphiql.page.locator('#live').isVisible()).toBe(false);
  });

  it('it is used in new tabs and after a reload, until the user signs out', async () => {
    const ada = await shared.signUp('Ada');
    const room = await shared.createRoom(ada, randomUUID());
    const graphiql = await open();
    await signIn(graphiql, ada);
    await graphiql.page.getByRole('button', { name: 'New tab' }).click();
    await run(graphiql, viewerQuery);
    await graphiql.shows({ data: { viewer: { email: ada.email } } });
    await graphiql.page.reload();
    await graphiql.ready();
    await graphiql.showsInBar('Signed in as Ada');
    await run(graphiql, viewerQuery);
    await graphiql.shows({ data: { viewer: { email: ada.email } } });

    await graphiql.choose('WatchRoom');
    await graphiql.write('variables', JSON.stringify({ room }));
    const closed = graphiql.page.waitForEvent('websocket').then((socket) => socket.waitForEvent('close'));
    await graphiql.play();
    await graphiql.live();
    await graphiql.press('Sign out');
    await closed;
    await graphiql.showsInBar('Not signed in');
    await run(graphiql, viewerQuery);
    await graphiql.shows({ data: { viewer: null } });
    await graphiql.page.reload();
    await graphiql.ready();
    await graphiql.showsInBar('Not signed in');
  });

  it('its token is in no URL, and in nothing that outlives the browser tab; nor is a typed header', async () => {
    const ada = await shared.signUp('Ada');
    const graphiql = await open();
    await signIn(graphiql, ada);
    const answer = await graphiql.shows({ data: { signIn: {} } });
    await graphiql.write('headers', `{ "Authorization": "Bearer ${ada.token}" }`);
    await run(graphiql, viewerQuery);
    await graphiql.shows({ data: { viewer: { email: ada.email } } });
    const stored = await graphiql.stored();
    expect(stored).toContain(viewerQuery);
    for (const token of [answer.data.signIn.accessToken, ada.token]) {
      expect(stored).not.toContain(token);
      expect(graphiql.requested.join()).not.toContain(token);
      expect(graphiql.page.url()).not.toContain(token);
    }
    const other = await Graphiql.open(graphiql.page.context(), shared.graphqlUrl);
    await other.showsInBar('Not signed in');
  });

  it('headers that an earlier version stored are not used', async () => {
    const visitor = await newVisitor(browser);
    await visitor.addInitScript(() => {
      localStorage.setItem('postroom:graphiql:headers', '{ "Authorization": "Bearer old" }');
    });
    const graphiql = await Graphiql.open(visitor, shared.graphqlUrl);
    await graphiql.play();
    await graphiql.shows({ data: { viewer: null } });
    expect(await graphiql.stored()).not.toContain('Bearer old');
  });

  it('an Authorization under Headers is used instead', async () => {
    const [ada, grace] = [await shared.signUp('Ada'), await shared.signUp('Grace')];
    const graphiql = await open();
    await signIn(graphiql, ada);
    await graphiql.write('headers', `{ "Authorization": "Bearer ${grace.token}" }`);
    await run(graphiql, viewerQuery);
    await graphiql.shows({ data: { viewer: { email: grace.email } } });
    await graphiql.write('headers', '{ "Authorization": "Bearer wrong" }');
    await graphiql.play();
    await graphiql.shows({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    await graphiql.showsInBar('Signed in as Ada');
  });

  it('it ends with a notice when the server refuses its token, and the operation runs without it', async () => {
    const ada = await shared.signUp('Ada');
    const graphiql = await open();
    await signIn(graphiql, ada);
    await revokeSessions(ada);
    await run(graphiql, viewerQuery);
    await graphiql.shows({ data: { viewer: null } });
    await graphiql.showsInBar(sessionEnded);
    await graphiql.showsInBar('Not signed in');
    await graphiql.page.reload();
    await graphiql.ready();
    await graphiql.showsInBar('Not signed in');
  });

  it('it ends with a notice when a WebSocket is closed because its token was revoked', async () => {
    const ada = await shared.signUp('Ada');
    const room = await shared.createRoom(ada, randomUUID());
    const graphiql = await open();
    await signIn(graphiql, ada);
    await graphiql.choose('WatchRoom');
    await graphiql.write('variables', JSON.stringify({ room }));
    await graphiql.play();
    await graphiql.live();
    await revokeSessions(ada);
    await graphiql.showsInBar(sessionEnded);
    await graphiql.shows({ errors: [{ message: 'The WebSocket was closed: 4403 Forbidden' }] });
  });

  it('a wrong password does not end it', async () => {
    const ada = await shared.signUp('Ada');
    const graphiql = await open();
    await signIn(graphiql, ada);
    await graphiql.write('variables', JSON.stringify({ credentials: { email: ada.email, password: 'not this one' } }));
    await graphiql.play('SignIn');
    await graphiql.shows({ errors: [{ message: 'The e-mail or the password is wrong.' }] });
    await graphiql.showsInBar('Signed in as Ada');
  });

  it('names and events are shown as text, not as HTML', async () => {
    const html = '<img src="x" onerror="document.title = 1"><b>bold</b>';
    const eve = await shared.signUp(html);
    const room = await shared.createRoom(eve, randomUUID());
    const graphiql = await open();
    await signIn(graphiql, eve);
    await graphiql.showsInBar(`Signed in as ${html}`);
    await graphiql.choose('WatchRoom');
    await graphiql.write('variables', JSON.stringify({ room }));
    await graphiql.play();
    await graphiql.live();
    await graphiql.choose('LookAround');
    await shared.createPost(eve, room, html);
    await graphiql.showsLive({ roomEvents: { actor: { name: html }, post: { title: html } } });
    expect(await graphiql.page.locator('#page > header :is(img, b), #live :is(img, b)').count()).toBe(0);
  });
});
