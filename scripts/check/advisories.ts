import { execFile } from 'node:child_process';
import { inRepository } from '../repository.ts';

/** An answer of `npm audit --json`. It has a `message` instead if the registry does not answer, or has no advisories. */
interface Audit {
  message?: string;
  error?: { summary: string };
  vulnerabilities?: Record<string, { severity: string; via: (string | { title: string; url: string })[] }>;
}

/**
 * The advisories about packages that are installed in production, of the npm registry.
 * @throws Skipped if the registry does not answer.
 */
export async function checkAdvisories(root = inRepository(), ...options: string[]): Promise<string[]> {
  const { message, error, vulnerabilities }: Audit = JSON.parse(await audit(root, options));
  if (message) throw new Skipped(`the registry does not answer: ${message}`);
  if (!vulnerabilities) return [`npm audit: ${error?.summary ?? 'no result'}`];
  return Object.entries(vulnerabilities).flatMap(([name, { severity, via }]) =>
    via.map((cause) => {
      const reason = typeof cause === 'string' ? `depends on ${cause}` : `${cause.title} (${cause.url})`;
      return `${name} (${severity}): ${reason}`;
    }),
  );
}

/** Why a step of the check could not run. */
export class Skipped extends Error {}

function audit(root: string, options: string[]): Promise<string> {
  const args = ['audit', '--omit=dev', '--json', '--fetch-retries=0', ...options];
  return new Promise((resolve, reject) => {
    // npm exits with 1 if there are advisories.
    execFile('npm', args, { cwd: root }, (failure, stdout) => {
      if (stdout === '') reject(failure ?? new Error('npm audit printed nothing'));
      else resolve(stdout);
    });
  });
}
