const lastOldest = '26.13.1';
/** For each major version, the oldest release of Node without known vulnerabilities that reach a server: SECURITY.md. */
const oldestReleases = ['24.22.3', lastOldest];

/** What is wrong with a release of Node that has known vulnerabilities. Other major versions are compared with the last. */
export function findVulnerableNode(release = process.versions.node): string | undefined {
  const [major] = release.split('.');
  const oldest = oldestReleases.find((each) => each.startsWith(`${major}.`)) ?? lastOldest;
  if (release.localeCompare(oldest, 'en', { numeric: true }) >= 0) return undefined;
  return `${release} has known vulnerabilities; ${oldestReleases.join(' and ')} are the oldest releases without them`;
}
