import { readFile } from 'node:fs/promises';
import { type Browser, chromium, type Page } from 'playwright-core';

/** The origin of the page. The server must allow it: ALLOWED_ORIGINS=http://localhost:5173. */
const origin = 'http://localhost:5173';

const html = `<!doctype html><title>Room</title><script type="module">
import { followRoom } from './events.js';
globalThis.followRoom = followRoom;
</script>`;

/** Playwright answers for the origin, so Chromium does not know that the page comes from this machine. */
const mayReachThisMachine = '--disable-features=LocalNetworkAccessChecks';

export function openBrowser(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', mayReachThisMachine];
  return chromium.launch({ executablePath: '/usr/bin/chromium', args });
}

/** A page with events.js, which passes on what it receives. */
export async function openPage(browser: Browser): Promise<Page> {
  const page = await browser.newPage();
  const files = { '/': html, '/events.js': await readFile('events.js', 'utf8') };
  for (const [path, body] of Object.entries(files)) {
    const contentType = path === '/' ? 'text/html' : 'text/javascript';
    await page.route(`${origin}${path}`, (route) => route.fulfill({ body, contentType }));
  }
  await page.goto(origin);
  return page;
}

interface Room {
  url: string;
  room: string;
  after: string;
}

export interface Listener {
  event(event: { __typename: string; cursor: string; post?: { id: string; title: string } | null }): void;
  end(code: string): void;
}

/** Follows a room in the page. Resolves when the browser has connected. */
export async function follow(page: Page, { url, room, after }: Room, listener: Listener): Promise<void> {
  await page.exposeFunction('onRoomEvent', listener.event);
  await page.exposeFunction('onRoomEnd', listener.end);
  await page.evaluate(
    ([url, room, after]) =>
      new Promise((resolve, reject) => {
        // @ts-expect-error: the page sets these.
        const { followRoom, onRoomEvent, onRoomEnd } = globalThis;
        const source = followRoom(url, { room, after }, onRoomEvent, onRoomEnd);
        source.addEventListener('open', resolve);
        source.addEventListener('error', () => reject(new Error('the stream was refused')));
      }),
    [url, room, after],
  );
}
