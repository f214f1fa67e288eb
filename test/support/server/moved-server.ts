import { expect } from 'vitest';
import { launchProcessForTest, mainProgram, type PostroomProcess, type Settings } from './postroom.ts';

const clock = new URL('moving-clock.ts', import.meta.url).pathname;

/** Starts the program for one test, with a clock that the test advances. */
export function launchWithMovingClock(settings: Settings): Promise<PostroomProcess> {
  return launchProcessForTest(settings, ['--import', clock, ...mainProgram]);
}

/** Advances the server's clock by five minutes. */
export async function moveClock({ process, log }: PostroomProcess): Promise<void> {
  const movedCount = () => log.filter(({ msg }) => msg === 'the clock was moved').length;
  const before = movedCount();
  process.kill('SIGUSR2');
  await expect.poll(movedCount).toBe(before + 1);
}
