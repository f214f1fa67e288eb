import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../../scripts/free-port.ts';
import { inRepository } from '../../../scripts/repository.ts';
import { chromiumNote, hasChromium, launchBrowser, newVisitor } from '../../support/clients/browser.ts';
import { Chat, installChat } from '../../support/clients/chat.ts';
import { ReceivedQueue } from '../../support/clients/received-queue.ts';
import { scratchFolder } from '../../support/server/postroom.ts';

describe.skipIf(!hasChromium)(`npm run example${chromiumNote}`, () => {
  it('starts the server and the app, starts a killed server again, so that nothing is lost, and Ctrl-C stops both', async () => {
    await installChat();
    const [port, appPort] = [String(await findFreePort()), String(await findFreePort())];
    const urls = [`http://127.0.0.1:${port}/health`, `http://localhost:${appPort}/`];
    const npm = start(port, appPort, join(scratchFolder(), 'chat.db'));
    const closed = once(npm, 'close');
    const interrupt = async () => {
      if (npm.exitCode === null && npm.signalCode === null && npm.pid !== undefined) process.kill(-npm.pid, 'SIGINT');
      await closed;
    };
    onTestFinished(interrupt);
    const lines = new ReceivedQueue<string>();
    npm.once('close', (status) => lines.close(() => `npm run example ended with ${status}`));
    createInterface(npm.stdout).on('line', (line) => line.startsWith('{') || lines.push(line));
    while (!(await lines.next()).startsWith('The app is at'));
    for (const url of urls) expect((await fetch(url)).status).toBe(200);

    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const chat = new Chat(await (await newVisitor(browser)).newPage());
    await chat.page.goto(`http://localhost:${appPort}/`);
    await chat.press('Create an account');
    for (const [label, value] of [
      ['Name', 'Ada'],
      ['E-mail', 'ada@example.org'],
      ['Password', 'correct horse'],
    ] as const)
      await chat.page.getByLabel(label).fill(value);
    await chat.press('Sign up');
    await chat.createRoom('hall');
    // The server has the extensions of the examples.
    await chat.page.getByRole('button', { name: 'Board', exact: true }).waitFor();
    await chat.write('before');
    await chat.sent('before').waitFor();
    for (let count = 1; count <= 3; count += 1) {
      process.kill(findServer(port), 'SIGKILL');
      await chat.write(`after ${count}`);
      expect(await lines.next()).toMatch(/^The server has ended: it was ended by SIGKILL/);
      expect(await lines.next()).toBe('The server is running again.');
      await chat.page.getByText('Reconnected, 0 missed.').waitFor();
      await chat.isLive();
    }
    await expect.poll(() => chat.texts()).toEqual(['before', 'after 1', 'after 2', 'after 3']);
    await chat.page.reload();
    await expect.poll(() => chat.texts()).toEqual(['before', 'after 1', 'after 2', 'after 3']);

    await interrupt();
    for (const url of urls) await expect(fetch(url)).rejects.toThrow('fetch failed');
  });
});

/** In a process group of its own, to which the signal is sent as by a terminal. */
function start(port: string, appPort: string, database: string) {
  return spawn('npm', ['run', 'example', '--', '--app-port', appPort], {
    cwd: inRepository(),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: port, DATABASE_URL: `sqlite:${database}` },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** The id of the process of the server on this port. */
function findServer(port: string): number {
  const processes = globSync('/proc/[0-9]*').filter((folder) => {
    try {
      const command = readFileSync(`${folder}/cmdline`, 'utf8');
      return (
        command.includes('src/main.ts\0serve') && readFileSync(`${folder}/environ`, 'utf8').includes(`PORT=${port}\0`)
      );
    } catch {
      return false; // it has ended meanwhile
    }
  });
  return Number(processes[0]?.slice('/proc/'.length));
}
