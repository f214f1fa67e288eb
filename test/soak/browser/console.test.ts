import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import * as operations from '../../../packages/pages/console/operations.ts';
import { chromiumNote, hasChromium, launchBrowser, newVisitor } from '../../support/clients/browser.ts';
import { Console } from '../../support/clients/console.ts';
import { createFaultProxy } from '../../support/clients/fault-proxy.ts';
import { ProtocolSocket } from '../../support/clients/protocol-socket.ts';
import { PostgresCluster, postgresPrograms } from '../../support/database/postgres-cluster.ts';
import { newSessionKey } from '../../support/database/test-database.ts';
import { TokenMaker } from '../../support/identity/tokens.ts';
import { hasRedis, RedisServer } from '../../support/rooms/redis-server.ts';
import { grantAdmin, launchForTest, type Postroom, run, scratchFolder } from '../../support/server/postroom.ts';
import { launchStreamFixture, type StreamFixture } from '../../support/server/stream-fixture.ts';

const notAdmin = 'Ada is not an admin. Only accounts with the role ADMIN can use the console.';

describe.skipIf(!hasChromium)(`the console${chromiumNote}`, () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser();
  });

  afterAll(() => browser?.close());

  async function open(postroom: Postroom): Promise<Console> {
    return Console.open(await newVisitor(browser), postroom);
  }

  async function openAsAdmin({ postroom, owner }: StreamFixture): Promise<Console> {
    const opened = await open(postroom);
    await opened.signIn(owner);
    await opened.isIn('Live');
    return opened;
  }

  function connect({ webSocketUrl }: Postroom, token?: string): Promise<ProtocolSocket> {
    return ProtocolSocket.open(webSocketUrl, { init: token === undefined ? {} : { authorization: `Bearer ${token}` } });
  }

  it('shows an admin the parts of the server, and its plots move while operations run', async () => {
    const world = await launchStreamFixture({ NODE_NAME: 'north' });
    const { postroom, owner, ada, room } = world;
    const opened = await openAsAdmin(world);
    await opened.page.getByText('Signed in as Owner').waitFor();
    await expect.poll(() => opened.rows('nodes', 'north').count()).toBe(1);
    expect(await opened.page.locator('#database').textContent()).toMatch(/^sqlite [\d.]+, up$/);
    expect(await opened.page.locator('#bus').textContent()).toBe('memory, up');
    const [operations, deliveries] = ['Operations per second', 'Deliveries per second'];
    const flat = await opened.heightOf(deliveries);

    const follower = await connect(postroom, ada.token);
    await follower.subscribe('follower', `subscription { roomEvents(room: "${room}") { cursor } }`).start;
    let isOver = false;
    const posting = (async () => {
      for (let n = 0; !isOver; n += 1) await postroom.createPost(owner, room, `number ${n}`);
    })();
    await expect.poll(() => opened.latest(operations)).toBeGreaterThan(0);
    await expect.poll(() => opened.latest(deliveries)).toBeGreaterThan(0);
    await expect.poll(() => opened.heightOf(deliveries)).toBeGreaterThan(flat);
    const busy = await opened.latest(deliveries);
    isOver = true;
    await posting;
    await expect.poll(() => opened.rows('rooms', 'hall').textContent()).toBe('hall1');
    await expect.poll(() => opened.latest(deliveries)).toBeLessThan(busy);
    await postroom.send('{ nothing }');
    await expect.poll(() => opened.rows('errors', 'GRAPHQL_VALIDATION_FAILED').count()).toBe(1);
    opened.expectNoFault(postroom);
  });

  it('shows connections with their viewer, and ends one after a confirmation, so that its client notices', async () => {
    const world = await launchStreamFixture();
    const { postroom, ada } = world;
    const client = await connect(postroom, ada.token);
    const opened = await openAsAdmin(world);
    const row = opened.rows('connections', 'Ada');
    await row.waitFor();
    expect(await row.textContent()).toContain('127.0.0.1WebSocket');
    const end = row.getByRole('button', { name: 'End the WebSocket of Ada from 127.0.0.1' });
    await end.click();
    await opened.press('Cancel');
    expect(client.webSocket.readyState).toBe(client.webSocket.OPEN);
    // The whole with the keyboard: the focus begins at Cancel.
    await end.press('Enter');
    await opened.page.getByRole('dialog', { name: 'End the WebSocket of Ada from 127.0.0.1?' }).waitFor();
    await opened.page.keyboard.press('Tab');
    await opened.page.keyboard.press('Enter');
    expect((await client.closed).code).toBe(1008);
    await opened.page.getByText('Ended the WebSocket of Ada from 127.0.0.1.').waitFor();
    await row.waitFor({ state: 'detached' });
    // Its own WebSocket is the other connection.
    await opened.rows('connections', 'Owner').waitFor();
    opened.expectNoFault(postroom);
  });

  it('asks again at once after a question was cancelled', async () => {
    const world = await launchStreamFixture();
    const client = await connect(world.postroom, world.ada.token);
    const opened = await openAsAdmin(world);
    const end = opened.rows('connections', 'Ada').getByRole('button');
    await end.click();
    await opened.page.getByRole('dialog').waitFor();
    // The event by which a dialog closes is not dispatched before the next task.
    await end.evaluate((button) => {
      document.querySelector<HTMLButtonElement>('dialog [value=cancel]')?.click();
      if (button instanceof HTMLElement) button.click();
    });
    await opened.press('End connection');
    expect((await client.closed).code).toBe(1008);
    opened.expectNoFault(world.postroom);
  });

  it('keeps the focus on a button while its table is refreshed', async () => {
    const world = await launchStreamFixture();
    await connect(world.postroom, world.ada.token);
    const opened = await openAsAdmin(world);
    const end = opened.rows('connections', 'Ada').getByRole('button');
    await end.focus();
    await connect(world.postroom);
    await opened.rows('connections', 'anonymous').waitFor();
    expect(await end.evaluate((button) => button === document.activeElement)).toBe(true);
  });

  it('shows 50 connections at a time', async () => {
    const world = await launchStreamFixture();
    await Promise.all(Array.from({ length: 60 }, () => connect(world.postroom)));
    const opened = await openAsAdmin(world);
    const rows = opened.page.locator('#connections tbody tr');
    await expect.poll(() => rows.count()).toBe(50);
    await expect.poll(() => opened.page.locator('#total').textContent()).toBe('61');
    expect(await opened.page.getByRole('button', { name: 'First page' }).isDisabled()).toBe(true);
    await opened.press('More');
    await expect.poll(() => rows.count()).toBe(11);
    expect(await opened.page.getByRole('button', { name: 'More' }).isDisabled()).toBe(true);
    await opened.press('First page');
    await expect.poll(() => rows.count()).toBe(50);
  });

  it('searches the connections by user, transport and address, and keeps the search when the table is refreshed', async () => {
    const world = await launchStreamFixture();
    const { postroom, ada } = world;
    const adele = await postroom.signUp('Adele');
    for (const token of [ada.token, adele.token, undefined]) await connect(postroom, token);
    const opened = await openAsAdmin(world);
    const rows = opened.page.locator('#connections tbody tr');
    const found = async (text: string) => {
      await opened.press('Search', 'Connections');
      await opened.announces(text);
    };
    await expect.poll(() => rows.count()).toBe(4);
    await opened.page.getByLabel('User', { exact: true }).fill('adel');
    await found('1 connection matches the search.');
    expect(await opened.rows('connections', 'Adele').count()).toBe(1);
    // The page asks for the connections every 3 seconds: one more appears, and no other.
    await connect(postroom);
    await connect(postroom, adele.token);
    await opened.announces('2 connections match the search.');
    expect(await opened.rows('connections', 'Adele').count()).toBe(2);
    expect(await rows.count()).toBe(2);
    expect(await opened.page.locator('#total').textContent()).toMatch(/^[4-6]$/);

    await opened.page.getByLabel('Transport').selectOption('Event stream');
    await found('No connection matches the search.');
    await opened.page.getByLabel('Transport').selectOption('WebSocket');
    // Two names contain it.
    await opened.page.getByLabel('User', { exact: true }).fill('ad');
    await found('Several users match: choose one.');
    await opened.press(`Ada, ${ada.email}`);
    await opened.announces('1 connection matches the search.');
    expect(await opened.rows('connections', 'Ada').count()).toBe(1);
    await opened.page.getByLabel('Address', { exact: true }).fill('192.0.2.1');
    await found('No connection matches the search.');
    await opened.press('Clear', 'Connections');
    await expect.poll(() => rows.count()).toBe(6);
    opened.expectNoFault(postroom);
  });

  it('shows who loads the server, in the chosen order', async () => {
    const world = await launchStreamFixture();
    const { postroom, ada } = world;
    for (let n = 0; n < 40; n += 1) await postroom.ask('{ __typename }', {}, ada.token);
    const eve = await postroom.signUp('Eve');
    for (let n = 0; n < 3; n += 1) await postroom.send('{ nothing }', {}, eve.token);
    const opened = await openAsAdmin(world);
    const users = opened.page.locator('#load-users tbody th');
    await expect.poll(async () => (await users.allTextContents())[0]).toBe('Ada');
    expect(await opened.rows('load-users', 'Eve').textContent()).toBe('Eve303');
    await opened.rows('load-addresses', '127.0.0.1').waitFor();
    await opened.page.getByLabel('Order by').selectOption('Refusals');
    await expect.poll(() => users.allTextContents()).toEqual(['Eve']);
    await opened.page.getByLabel('Order by').selectOption('Deliveries');
    await opened.announces('No deliveries in the last five minutes.');
    expect(await users.count()).toBe(0);
    opened.expectNoFault(postroom);
  });

  it('shows why operations were refused, and finds one by its request id', async () => {
    const world = await launchStreamFixture({ NODE_NAME: 'north' });
    const { postroom, ada, room } = world;
    const rename = 'mutation Rename($id: ID!) { updateRoom(input: { id: $id, name: "mine" }) { room { id } } }';
    const { headers } = await postroom.send(rename, { id: room }, ada.token);
    await postroom.send('{ nothing }');
    const opened = await openAsAdmin(world);
    const requestId = headers.get('x-request-id') ?? '';
    const refusals = opened.page.locator('#refusals tbody tr');
    await expect.poll(() => refusals.count()).toBe(2);
    await opened.page.getByLabel('Request id').fill(` ${requestId} `);
    await opened.page.getByLabel('Request id').press('Enter');
    await expect.poll(() => refusals.count()).toBe(1);
    const shown = await opened.rows('refusals', 'FORBIDDEN').getByRole('cell').allTextContents();
    const [reason, time, ...others] = shown;
    expect(reason).toBe('Only the owner and admins can change a room.');
    expect(time).toMatch(/^\d+ \w+ \d{4}, [\d:]{8}$/);
    expect(others).toEqual(['Rename', 'Ada', '127.0.0.1', 'north', requestId]);
    await opened.page.getByLabel('Request id').fill('another');
    await opened.press('Search', 'Refusals');
    await opened.announces('No refusal has the request id “another”.');
    await opened.press('Clear', 'Refusals');
    await expect.poll(() => refusals.count()).toBe(2);
    opened.expectNoFault(postroom);
  });

  it('mutes a user in a room until a time', async () => {
    const world = await launchStreamFixture();
    const { postroom, ada, room } = world;
    const opened = await openAsAdmin(world);
    await opened.find('Users', 'ada');
    const button = opened.rows('found-users', 'Ada').getByRole('button', { name: 'Mute Ada' });
    await button.click();
    const dialog = opened.page.getByRole('dialog', { name: 'Mute Ada in a room' });
    await dialog.getByLabel('Room').fill('no such room');
    await dialog.getByLabel('Until').fill('2099-01-31T12:00');
    await opened.press('Mute');
    await opened.announces('Could not mute Ada: No room has the name or id “no such room”.');
    await button.click();
    await dialog.getByLabel('Room').fill('hall');
    await dialog.getByLabel('Until').fill('2099-01-31T12:00');
    await dialog.getByLabel('Until').press('Enter');
    await opened.announces('Muted Ada in hall until 31 Jan 2099, 12:00:00.');
    await expect(postroom.createPost(ada, room, 'muted')).rejects.toThrow('FORBIDDEN');
    await button.click();
    await dialog.getByLabel('Room').fill(room);
    await dialog.getByLabel('Until').fill('');
    await opened.press('Mute');
    await opened.announces('Ada is not muted in hall.');
    await postroom.createPost(ada, room, 'may post again');
    opened.expectNoFault(postroom);
  });

  it('deletes a post, a room and an account after a confirmation that names them', async () => {
    const world = await launchStreamFixture();
    const { postroom, owner, ada, room } = world;
    const post = await postroom.createPost(ada, room, 'Spam');
    const opened = await openAsAdmin(world);
    await opened.find('Posts', 'nothing like it');
    await opened.announces('No posts match “nothing like it”.');
    await opened.find('Posts', 'spam');
    const row = opened.rows('found-posts', 'Spam');
    await row.getByRole('button', { name: 'Delete the post Spam' }).click();
    await opened.page.getByRole('dialog', { name: 'Delete the post Spam of Ada in hall?' }).waitFor();
    await opened.press('Cancel');
    await row.getByRole('button', { name: 'Delete the post Spam' }).click();
    await opened.press('Delete post');
    await opened.announces('Deleted the post Spam.');
    await row.waitFor({ state: 'detached' });
    expect(await postroom.ask(`{ post(id: "${post}") { id } }`)).toEqual({ post: null });

    await opened.find('Rooms', room);
    await opened.rows('found-rooms', 'hall').getByRole('button', { name: 'Delete the room hall' }).click();
    await opened.page.getByRole('dialog', { name: 'Delete the room hall with all its posts?' }).waitFor();
    await opened.press('Delete room');
    await opened.announces('Deleted the room hall.');
    expect(await postroom.ask(`{ room(id: "${room}") { id } }`)).toEqual({ room: null });

    await opened.find('Users', ada.id);
    await opened.rows('found-users', 'Ada').getByRole('button', { name: 'Delete the account of Ada' }).click();
    const question = opened.page.getByRole('dialog', { name: `Delete the account of Ada, ${ada.email}?` });
    await question.getByLabel('Delete the published posts, too').check();
    await opened.press('Delete account');
    await opened.announces('Deleted the account of Ada.');
    const { user } = await postroom.ask(`{ user(id: "${ada.id}") { email } }`, {}, owner.token);
    expect(user?.email ?? null).toBeNull();
    opened.expectNoFault(postroom);
  });

  it('reports why the server refused an action', async () => {
    const world = await launchStreamFixture();
    const { postroom, owner, ada, room } = world;
    const post = await postroom.createPost(ada, room, 'Spam');
    const opened = await openAsAdmin(world);
    await opened.find('Posts', post);
    const button = opened.rows('found-posts', 'Spam').getByRole('button', { name: 'Delete' });
    await button.waitFor();
    await postroom.ask(`mutation { deletePost(input: { id: "${post}" }) { post { id } } }`, {}, owner.token);
    await button.click();
    await opened.press('Delete post');
    await expect
      .poll(() => opened.page.locator('#moderation-notice').textContent())
      .toMatch(/^Could not delete the post Spam: ./);
  });

  it('ends all connections of a user after a confirmation', async () => {
    const world = await launchStreamFixture();
    const { postroom, ada } = world;
    const clients = [await connect(postroom, ada.token), await connect(postroom, ada.token)];
    const anonymous = await connect(postroom);
    const opened = await openAsAdmin(world);
    await opened.find('Users', 'Ada');
    await opened.rows('found-users', 'Ada').getByRole('button', { name: 'End connections of Ada' }).click();
    await opened.page.getByRole('dialog', { name: 'End all connections of Ada?' }).waitFor();
    await opened.press('End connections');
    await opened.announces('Ended 2 connections of Ada.');
    for (const client of clients) expect((await client.closed).code).toBe(1008);
    expect(anonymous.webSocket.readyState).toBe(anonymous.webSocket.OPEN);
    opened.expectNoFault(postroom);
  });

  it.skipIf(!hasRedis)('shows a line for each node, or one for all', async () => {
    const redis = await RedisServer.launch();
    onTestFinished(() => redis.stop());
    const world = await launchStreamFixture({ NODE_NAME: 'north', REDIS_URL: redis.url });
    await launchForTest({ ...world.settings, NODE_NAME: 'south', REDIS_URL: redis.url });
    const opened = await openAsAdmin(world);
    await opened.rows('nodes', 'south').waitFor();
    expect(await opened.legend('Operations per second')).toEqual([]);
    await opened.page.getByLabel('Each node').check();
    await expect.poll(() => opened.legend('Operations per second')).toEqual(['Time', 'north', 'south']);
    await opened.page.getByLabel('Each node').uncheck();
    await expect.poll(() => opened.legend('Operations per second')).toEqual([]);
    opened.expectNoFault(world.postroom);
  });

  it('refuses a viewer who is not an admin, and stores no token of theirs', async () => {
    const { postroom, ada } = await launchStreamFixture();
    const opened = await open(postroom);
    await opened.signIn(ada);
    await opened.asksToSignIn(notAdmin);
    expect(await opened.stored()).toBeNull();
    // Only the sign-in was sent.
    expect(opened.requested).toEqual([`${postroom.url}/console`, postroom.graphqlUrl]);
    await opened.signIn({ ...ada, password: 'not this one' });
    await opened.asksToSignIn('The e-mail or the password is wrong.');
    opened.expectNoFault(postroom);
  });

  it('ends with a reason when the role or the session of its admin ends, and then shows nothing of the server', async () => {
    const world = await launchStreamFixture();
    const { postroom, settings, ada } = world;
    await grantAdmin(settings, ada);
    const opened = await open(postroom);
    await opened.signIn(ada);
    await opened.rows('connections', 'Ada').waitFor();
    await run(['revoke-admin', ada.email], settings);
    await opened.asksToSignIn(notAdmin);
    expect(await opened.stored()).toBeNull();
    expect(await opened.page.locator('#status td, #status tbody th').count()).toBe(0);

    await grantAdmin(settings, ada);
    await opened.signIn(ada);
    await opened.isIn('Live');
    await postroom.ask(
      'mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { accessToken } }',
      { input: { currentPassword: ada.password, newPassword: `${ada.password}!` } },
      ada.token,
    );
    await opened.asksToSignIn('Your session has expired or was revoked. Sign in again.');
    opened.expectNoFault(postroom);
  });

  it('survives a reload, and signing out ends its stream', async () => {
    const world = await launchStreamFixture();
    const { postroom, owner } = world;
    const opened = await openAsAdmin(world);
    await opened.page.reload();
    await opened.isIn('Live');
    await opened.press('Sign out');
    await opened.asksToSignIn('');
    const total = async () => (await postroom.ask('{ connections { total } }', {}, owner.token)).connections.total;
    await expect.poll(total).toBe(0);
    await opened.page.reload();
    await opened.asksToSignIn('');
  });

  it('keeps the session of an admin who signs in while the token of another one is renewed', async () => {
    const tokens = new TokenMaker();
    const world = await launchStreamFixture({ SESSION_KEY: tokens.sessionKey });
    const { postroom, settings, owner, ada } = world;
    await grantAdmin(settings, ada);
    const opened = await open(postroom);
    const renewal = Promise.withResolvers<void>();
    const isRenewal = (request: Request) => request.postData()?.includes('renewSession') ?? false;
    await opened.page.route(/graphql$/, async (route) => {
      if (isRenewal(route.request())) await renewal.promise;
      await route.continue();
    });
    const session = JSON.stringify({ token: await tokens.sign(ada.id, 50), name: 'Ada' });
    await opened.page.evaluate((stored) => sessionStorage.setItem('postroom:console', stored), session);
    const asked = opened.page.waitForRequest(isRenewal);
    await opened.page.reload();
    await asked;
    await opened.press('Sign out');
    await opened.signIn(owner);
    await opened.isIn('Live');
    const token = (await opened.stored())?.token;
    const answered = opened.page.waitForResponse((response) => isRenewal(response.request()));
    renewal.resolve();
    await (await answered).finished();
    // The page has handled the answer when it sends its next request.
    await opened.find('Users', 'a');
    await opened.rows('found-users', 'Ada').waitFor();
    expect((await opened.stored())?.token).toBe(token);
    opened.expectNoFault(postroom);
  });

  it('says when the server is gone, and continues when it is back', async () => {
    const world = await launchStreamFixture();
    const { postroom, settings } = world;
    const opened = await openAsAdmin(world);
    await postroom.stop();
    await opened.isIn('Reconnecting…');
    await launchForTest({ ...settings, PORT: new URL(postroom.url).port });
    await opened.isIn('Live');
    opened.expectNoFault(postroom);
  });

  it('says why the server refuses its stream, and tries again', async () => {
    const world = await launchStreamFixture();
    const file = join(scratchFolder(), 'documents.json');
    const trusted = { signIn: operations.signIn.text, connections: operations.listConnections.text };
    writeFileSync(file, JSON.stringify(trusted));
    const strict = await launchForTest({ ...world.settings, TRUSTED_DOCUMENTS: file });
    const opened = await open(strict);
    await opened.signIn(world.owner);
    await opened.isIn('Reconnecting… The document is not in the list of trusted documents.');
    const again = Promise.withResolvers<void>();
    opened.page.on('websocket', (socket) =>
      socket.on('framesent', ({ payload }) => String(payload).includes('serverStatusChanged') && again.resolve()),
    );
    await again.promise;
  });

  /** Opens the console as an admin; it receives the statuses of the server as `change` changes them. */
  async function openWithStatus(world: StreamFixture, change: (status: operations.Status) => void): Promise<Console> {
    const visitor = await newVisitor(browser);
    await visitor.routeWebSocket(/graphql$/, (page) => {
      const server = page.connectToServer();
      server.onMessage((text) => {
        const message = JSON.parse(String(text));
        const status = message.payload?.data?.serverStatusChanged;
        if (status) change(status);
        page.send(JSON.stringify(message));
      });
    });
    const opened = await Console.open(visitor, world.postroom);
    await opened.signIn(world.owner);
    await opened.isIn('Live');
    return opened;
  }

  it('says whether the server is healthy, and otherwise why', async () => {
    const world = await launchStreamFixture();
    let changes: Partial<operations.Status> = {};
    const opened = await openWithStatus(world, (status) => {
      // The machine that runs the test may be busy.
      for (const node of status.nodes) Object.assign(node, { eventLoopLagMs: 1, lagMs: 1 });
      Object.assign(status, changes);
    });
    const line = opened.page.getByRole('status').and(opened.page.locator('#health'));
    await expect.poll(() => line.textContent()).toBe('Healthy');
    changes = { bus: { kind: 'redis', isUp: false } };
    await expect.poll(() => line.textContent()).toBe('Degraded: the bus is down');
    changes = {};
    await expect.poll(() => line.textContent()).toBe('Healthy');
    await world.postroom.stop();
    await expect.poll(() => line.textContent()).toBe('Unknown: the page is not connected');
  });

  it('keeps the history of the plots when it is reloaded, with the gap, until the admin signs out', async () => {
    const world = await launchStreamFixture({ NODE_NAME: 'north' });
    let laterMs = 0;
    let operationsPerSecond = 100;
    const opened = await openWithStatus(world, (status) => {
      status.time = new Date(Date.parse(status.time) + laterMs).toISOString();
      // A line with a height has at least two samples.
      operationsPerSecond /= 2;
      for (const node of status.nodes) Object.assign(node, { operationsPerSecond });
    });
    const plot = 'Operations per second';
    await expect.poll(() => opened.heightOf(plot)).toBeGreaterThan(0.3);
    // As if the page was away for a minute.
    laterMs = 60_000;
    await opened.page.reload();
    await expect.poll(() => opened.widestGapOf(plot)).toBeGreaterThan(0.1);
    expect(await opened.heightOf(plot)).toBeGreaterThan(0.3);
    const [sample] = (await opened.storedHistory()) ?? [];
    expect(sample).toEqual({
      time: expect.any(Number),
      nodes: [
        {
          name: 'north',
          operationsPerSecond: expect.any(Number),
          deliveriesPerSecond: expect.any(Number),
          lagMs: expect.any(Number),
        },
      ],
    });
    await opened.press('Sign out');
    await opened.asksToSignIn('');
    await opened.page.reload();
    expect(await opened.storedHistory()).toBeNull();
  });

  it.skipIf(postgresPrograms === undefined)('shows that the database is down, and that it is back', async () => {
    const cluster = await PostgresCluster.start();
    onTestFinished(() => cluster.remove());
    const database = cluster.url(await cluster.createDatabase());
    const proxy = await createFaultProxy(database);
    onTestFinished(() => proxy.close());
    const settings = { DATABASE_URL: proxy.url, SESSION_KEY: newSessionKey() };
    const postroom = await launchForTest(settings);
    const admin = await postroom.signUp('Owner');
    await grantAdmin(settings, admin);
    const room = await postroom.createRoom(admin, 'hall');
    const follower = await connect(postroom, admin.token);
    await follower.subscribe('follower', `subscription { roomEvents(room: "${room}") { cursor } }`).start;
    const opened = await open(postroom);
    await opened.signIn(admin);
    await opened.rows('rooms', 'hall').waitFor();
    const state = () => opened.page.locator('#database').textContent();
    proxy.retarget('postgres://127.0.0.1:1/nothing');
    await expect.poll(state).toMatch(/, down$/);
    await opened.rows('rooms', 'unknown').waitFor();
    await expect.poll(() => opened.health()).toMatch(/^Degraded: the database is down/);
    await opened.isIn('Live');
    proxy.retarget(database);
    await expect.poll(state).toMatch(/, up$/);
    await opened.rows('rooms', 'hall').waitFor();
  });

  it('shows names as text, not as HTML', async () => {
    const world = await launchStreamFixture();
    const { postroom } = world;
    const html = '<img src="x" onerror="document.title = 1"><b>bold</b>';
    const eve = await postroom.signUp(html);
    const room = await postroom.createRoom(eve, html);
    const client = await connect(postroom, eve.token);
    await client.subscribe('follower', `subscription { roomEvents(room: "${room}") { cursor } }`).start;
    const opened = await openAsAdmin(world);
    await opened.rows('rooms', html).waitFor();
    await opened.rows('connections', html).getByRole('button').click();
    await opened.page.getByRole('dialog').getByText(html).waitFor();
    await opened.press('Cancel');
    await opened.find('Users', html);
    await opened.rows('found-users', html).getByRole('button', { name: 'Mute' }).click();
    await opened.page.getByRole('dialog').getByText(html).waitFor();
    expect(await opened.page.locator('img, b').count()).toBe(0);
    opened.expectNoFault(postroom);
  });

  const sizes = [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ];
  const appearances = sizes.flatMap((size) => (['light', 'dark'] as const).map((theme) => ({ ...size, theme })));

  it.each(appearances)('has no fault that axe-core finds, and nothing overflows: $width x $height, $theme', async ({
    theme,
    ...size
  }) => {
    const world = await launchStreamFixture();
    await connect(world.postroom, world.ada.token);
    // A word that is as long as a reason may be.
    await world.postroom.send(`query ${'Operation'.repeat(11)} { ${'x'.repeat(400)} }`);
    const opened = await Console.open(await newVisitor(browser, size), world.postroom);
    const check = async () => {
      expect(await opened.violations()).toEqual([]);
      expect(await opened.overflow()).toBe(0);
    };
    await opened.page.emulateMedia({ colorScheme: theme });
    await check();
    await opened.signIn(world.owner);
    await opened.isIn('Live');
    await opened.rows('connections', 'Owner').waitFor();
    await opened.rows('refusals', 'GRAPHQL_VALIDATION_FAILED').waitFor();
    await opened.rows('load-addresses', '127.0.0.1').waitFor();
    await opened.page.getByLabel('Each node').check();
    await check();
    await opened.find('Users', 'a');
    const mute = opened.rows('found-users', 'Ada').getByRole('button', { name: 'Mute Ada' });
    await mute.waitFor();
    await check();
    await mute.click();
    await check();
    await opened.page.keyboard.press('Escape');
    await opened.rows('connections', 'Owner').getByRole('button').click();
    await check();
  });

  it('shows each row of a table as a card on a phone, with the title of each value', async () => {
    const world = await launchStreamFixture();
    const opened = await Console.open(await newVisitor(browser, { width: 390, height: 844 }), world.postroom);
    await opened.signIn(world.owner);
    const row = opened.rows('connections', 'Owner');
    await row.waitFor();
    const cell = row.getByRole('cell', { name: /WebSocket$/ });
    const title = () => cell.evaluate((element) => getComputedStyle(element, '::before').content);
    expect(await title()).toBe('"Transport"');
    await opened.page.setViewportSize({ width: 1280, height: 800 });
    expect(await title()).toBe('none');
    await opened.page.getByRole('columnheader', { name: 'Transport' }).waitFor();
  });
});
