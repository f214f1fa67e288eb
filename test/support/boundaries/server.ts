import { expect } from 'vitest';
import { type LogLine, launch, type PostroomProcess, type Settings, unbundledProgram } from '../server/postroom.ts';

const instrument = new URL('instrument.ts', import.meta.url).href;

/** Starts a server whose boundaries can be armed; the caller stops it. */
export function launchInstrumented(settings: Settings): Promise<PostroomProcess> {
  return launch({ LOG_LEVEL: 'info', ...settings }, ['--import', instrument, ...unbundledProgram]);
}

/** Waits for a line of the log after the first `from`. `timeout`: in milliseconds. */
export async function lineOf(
  { log }: PostroomProcess,
  from: number,
  fits: (line: LogLine) => boolean,
  timeout?: number,
): Promise<LogLine> {
  const find = () => log.slice(from).find(fits);
  await expect.poll(find, { interval: 10, ...(timeout !== undefined && { timeout }) }).toBeDefined();
  return find() as LogLine;
}

/** Arms the boundary, or none. Returns the number of lines that were logged before. */
export async function arm(postroom: PostroomProcess, id = ''): Promise<number> {
  const from = postroom.log.length;
  postroom.process.stdin.write(`${id}\n`);
  await lineOf(postroom, from, ({ msg }) => msg === 'armed');
  return from;
}

/** Whether the line reports the exception of the boundary. */
export function reports(id: string): (line: LogLine) => boolean {
  return ({ err }) => JSON.stringify(err ?? '').includes(JSON.stringify(`exception in ${id}`).slice(1, -1));
}
