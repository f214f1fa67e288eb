#!/usr/bin/env node
// The command of the npm package. In the repository it runs the sources.
import { existsSync } from 'node:fs';

// The SQLite of earlier versions can damage a database: https://www.sqlite.org/wal.html#walresetbug
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 24 || (major === 24 && minor < 15)) {
  console.error(`postroom: Node 24.15 or later is required (this is ${process.version}).`);
  process.exitCode = 1;
} else {
  const source = new URL('../src/main.ts', import.meta.url);
  await import(existsSync(source) ? source.href : '../dist/main.js');
}
