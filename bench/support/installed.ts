import { execFileSync } from 'node:child_process';

/** @throws Error if the program is not on the PATH. `debianPackage`: the package that contains it. */
export function assertInstalled(program: string, debianPackage = program): void {
  try {
    execFileSync('which', [program]);
  } catch {
    throw new Error(`This benchmark needs ${program}, which is not on the PATH (apt install ${debianPackage}).`);
  }
}
