import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inRepository } from '../../scripts/repository.ts';
import { programEnvironment, run } from '../support/server/postroom.ts';

/* The warning of `postroom validate` about the release of Node that runs it. */

/** The first line and the status of the command, in a process that takes itself for a release of Node. */
async function validateOn(release: string) {
  const preload = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${release}' } })`;
  const option = `--import=data:text/javascript,${encodeURIComponent(preload)}`;
  const { status, stdout } = await run(['validate'], { NODE_OPTIONS: `${programEnvironment.NODE_OPTIONS} ${option}` });
  return { status, line: stdout.split('\n')[0] };
}

describe('postroom validate', () => {
  it.each([
    '24.22.2',
    '25.9.0',
    '26.13.0',
  ])('warns on Node %s, which has known vulnerabilities, and succeeds', async (release) => {
    expect(await validateOn(release)).toEqual({
      status: 0,
      line: `node: warning: ${release} has known vulnerabilities; 24.22.3 and 26.13.1 are the oldest releases without them`,
    });
  });

  it.each(['24.22.3', '24.100.0', '27.0.0'])('does not warn on Node %s', async (release) => {
    expect(await validateOn(release)).toEqual({ status: 0, line: 'settings: ok' });
  });

  it.each(['README.md', 'SECURITY.md', 'Dockerfile'])('and %s name the same releases', (path) => {
    const [, ...releases] =
      /(24\.\d+\.\d+)(?:,| and) (26\.\d+\.\d+)/.exec(readFileSync(inRepository(path), 'utf8')) ?? [];
    expect(releases).toEqual(['24.22.3', '26.13.1']);
  });
});
