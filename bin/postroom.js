#!/usr/bin/env node
// The command of the npm package. In the repository, the npm scripts run src/main.ts instead.

if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(`postroom: Node 24 or later is required (this is ${process.version}).`);
  process.exitCode = 1;
} else {
  await import('../dist/main.js');
}
