import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { inRepository } from '../../../scripts/repository.ts';
import { chromiumNote, Graphiql, hasChromium, launchBrowser, newVisitor } from '../../support/clients/browser.ts';
import { createFaultProxy } from '../../support/clients/fault-proxy.ts';
import { launchForTest, type Postroom, startInProcess } from '../../support/server/postroom.ts';

const [wide, phone] = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
];

describe.skipIf(!hasChromium)(`the page around GraphiQL${chromiumNote}`, () => {
  let browser: Browser;
  let postroom: Postroom;

  beforeAll(async () => {
    [browser, postroom] = await Promise.all([
      launchBrowser(),
      startInProcess({ SIGN_IN_ATTEMPTS: '100', RATE_LIMIT: '0' }),
    ]);
  });

  afterAll(async () => {
    await browser?.close();
    await postroom?.stop();
  });

  async function open(size: typeof wide): Promise<Graphiql> {
    return Graphiql.open(await newVisitor(browser, size), postroom.graphqlUrl);
  }

  async function tryIt(graphiql: Graphiql): Promise<void> {
    await graphiql.press('Try it');
    await graphiql.live();
    await graphiql.settled('CreatePost');
  }

  const event = ({ page }: Graphiql) => page.locator('#live-events li').first();

  /** The distance by which the content is wider than the window. */
  const overflow = ({ page }: Graphiql): Promise<number> =>
    page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

  it.each([wide, phone])('has no violation of axe-core, and nothing overflows: $width x $height', async (size) => {
    const graphiql = await open(size);
    const check = async () => {
      expect(await graphiql.violations()).toEqual([]);
      expect(await overflow(graphiql)).toBe(0);
    };
    await check();
    await tryIt(graphiql);
    await check();
    await graphiql.play();
    await event(graphiql).waitFor({ state: 'attached' });
    await check();
    if (size === phone) await graphiql.page.getByRole('button', { name: 'Events' }).click();
    await event(graphiql).click();
    await check();
    expect(graphiql.faults).toEqual([]);
  });

  it('on a small screen the panes are stacked, and the events are a drawer', async () => {
    const graphiql = await open(phone);
    const top = async (part: string) => (await graphiql.page.locator(part).boundingBox())?.y ?? Number.NaN;
    expect(await top('.graphiql-response')).toBeGreaterThan(await top('.graphiql-editor-tools'));
    expect(await top('.graphiql-sidebar')).toBeGreaterThan(await top('.graphiql-response'));
    await tryIt(graphiql);
    await graphiql.play();
    await event(graphiql).waitFor({ state: 'attached' });
    await graphiql.page.getByLabel('Show Documentation Explorer').click();
    await graphiql.page.getByText('All Schema Types').waitFor();
    expect(await graphiql.page.locator('.graphiql-sessions').isVisible()).toBe(false);
    await graphiql.page.getByLabel('Hide Documentation Explorer').click();
    const toggle = graphiql.page.getByRole('button', { name: 'Events' });
    for (const isOpen of [false, true, false]) {
      expect(await event(graphiql).isVisible()).toBe(isOpen);
      expect(await toggle.getAttribute('aria-expanded')).toBe(String(isOpen));
      await toggle.click();
    }
  });

  it('where the result will be, it shows what to do, until there is a result', async () => {
    const graphiql = await open(wide);
    const step = () => graphiql.page.locator('#guide [aria-current=step]').allInnerTexts();
    expect(await graphiql.guide()).toContain('Press Try it');
    expect(await step()).toEqual([]);
    await tryIt(graphiql);
    await expect.poll(step).toEqual(['Press play to create a post in the room.']);
    await graphiql.play();
    await graphiql.page.locator('#guide').waitFor({ state: 'hidden' });
    await graphiql.choose('LookAround');
    await graphiql.page.locator('#guide').waitFor();
  });

  it('an event is one line with its time, type and actor; a click shows its JSON, and the events are counted', async () => {
    const graphiql = await open(wide);
    await tryIt(graphiql);
    const count = graphiql.page.locator('#live-count');
    await graphiql.play();
    await expect.poll(() => count.innerText()).toBe('1 event');
    await graphiql.play();
    await expect.poll(() => count.innerText()).toBe('2 events');
    expect(await event(graphiql).innerText()).toMatch(/^\d\d:\d\d:\d\d PostCreated Demo [0-9a-f]{6}$/);
    expect((await event(graphiql).boundingBox())?.height).toBeLessThan(45);
    await event(graphiql).click();
    expect(await event(graphiql).innerText()).toContain('"title": "Hello"');
  });

  it('says when the connection is lost, and how many events were written meanwhile', async () => {
    const proxy = await createFaultProxy('http://127.0.0.1:1/graphql');
    onTestFinished(() => proxy.close());
    const own = await launchForTest({ ALLOWED_ORIGINS: new URL(proxy.url).origin });
    proxy.retarget(own.url);
    const graphiql = await Graphiql.open(await newVisitor(browser, wide), proxy.url);
    await tryIt(graphiql);
    await graphiql.play();
    const says = (text: string) => expect.poll(() => graphiql.page.locator('#live-state').innerText()).toBe(text);
    await says('WatchRoom: live.');
    proxy.cut();
    await says('WatchRoom: reconnected, 0 missed.');
    const { data } = (await own.ask('{ rooms(limit: 1) { data { id } } }')).rooms;
    const bob = await own.signUp('Bob');
    const room: string = data[0].id;
    proxy.freeze();
    await own.ask(`mutation { joinRoom(input: { room: "${room}" }) { room { id } } }`, {}, bob.token);
    for (const title of ['one', 'two']) await own.createPost(bob, room, title);
    proxy.cut();
    proxy.thaw();
    await says('WatchRoom: reconnected, 3 events while away, 0 missed.');
    expect(await graphiql.page.locator('#live-count').innerText()).toBe('4 events');
  });

  it('results without a type, a time or an actor are lines, too, and so are errors', async () => {
    const page = await (await newVisitor(browser)).newPage();
    const html = readFileSync(inRepository('src/transport/graphiql/page.html'), 'utf8');
    const code = readFileSync(inRepository('packages/pages/graphiql/live-panel.js'), 'utf8');
    await page.setContent(/<aside.*<\/aside>/s.exec(html)?.[0] ?? '');
    await page.addScriptTag({
      type: 'module',
      content: `${code}
        const connection = { get: () => ({ state: 'live' }), subscribe: () => () => {} };
        const sendTo = (sink) => {
          sink.next({ data: { roomPresence: { count: 2 } } });
          sink.next({ errors: [{ message: 'The object does not exist.' }] });
        };
        new LivePanel().show({ name: 'WatchRoom', stop() {}, connection, sendTo });`,
    });
    const lines = await page.locator('#live-events summary').allInnerTexts();
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d Error The object does not exist\.$/);
    expect(lines[1]).toMatch(/^\d\d:\d\d:\d\d roomPresence {"count":2}$/);
  });
});
