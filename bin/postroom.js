#!/usr/bin/env node
// The command of the npm package. In the repository, the npm scripts run src/main.ts instead.

// The SQLite of earlier versions can damage a database: https://www.sqlite.org/wal.html#walresetbug
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 24 || (major === 24 && minor < 15)) {
  console.error(`postroom: Node 24.15 or later is required (this is ${process.version}).`);
  process.exitCode = 1;
} else {
  await import('../dist/main.js');
}
