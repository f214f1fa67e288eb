import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { readImports } from '../../scripts/check/imports.ts';
import { findTypeScriptFiles, inRepository } from '../../scripts/repository.ts';
import { listSettings } from '../../src/config/config.ts';
import { scratchFolder } from '../support/server/postroom.ts';

/*
 * Dockerfile and compose.yaml cannot be built by the tests, and the unit of systemd cannot be started. What they say about
 * the project is checked instead.
 */

interface Service {
  image: string;
  build?: string;
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  read_only?: boolean;
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
}

const dockerfile = readFileSync(inRepository('Dockerfile'), 'utf8').replaceAll('\\\n', ' ');
const compose: { services: Record<string, Service>; volumes: Record<string, null> } = parse(
  readFileSync(inRepository('compose.yaml'), 'utf8'),
  { merge: true },
);
const services = Object.entries(compose.services);
const unit = readFileSync(inRepository('deploy/postroom.service'), 'utf8');
const {
  version,
  scripts,
  dependencies,
}: { version: string; scripts: Record<string, string>; dependencies: Record<string, string> } = JSON.parse(
  readFileSync(inRepository('package.json'), 'utf8'),
);
/** The options of node in `npm start`. */
const nodeOptions = scripts['start']?.split(' ').filter((word) => word.startsWith('--'));
const proxyConfig = readFileSync(inRepository('deploy/haproxy.cfg'), 'utf8');

function instructionsOf(name: string): string[] {
  return [...dockerfile.matchAll(new RegExp(`^${name} +(.+)$`, 'gm'))].map(([, rest = '']) => rest);
}

function commandOf(text: string | undefined): [string, ...string[]] {
  return JSON.parse(/\[.*\]$/.exec(text ?? '')?.[0] ?? '');
}

/** The files that the image has, in a folder. */
function unpackImage(): string {
  const folder = scratchFolder();
  for (const copied of instructionsOf('COPY').filter((rest) => !rest.startsWith('--from'))) {
    const paths = copied.split(/\s+/).slice(0, -1);
    for (const path of paths) cpSync(inRepository(path), join(folder, path), { recursive: true });
  }
  symlinkSync(inRepository('node_modules'), join(folder, 'node_modules'));
  return folder;
}

describe('Dockerfile', () => {
  it('copies only files that exist and that .dockerignore lets pass', () => {
    const [all, ...passed] = readFileSync(inRepository('.dockerignore'), 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(all).toBe('*');
    const copied = instructionsOf('COPY').filter((rest) => !rest.startsWith('--from'));
    const paths = copied.flatMap((rest) => rest.split(/\s+/).slice(0, -1));
    expect([...new Set(paths)].map((path) => `!${path}`).sort()).toEqual(passed.sort());
    for (const path of paths) expect(existsSync(inRepository(path)), path).toBe(true);
  });

  it('starts the server with the copied files, not as root, and its health check follows /ready', async () => {
    expect(instructionsOf('USER').at(-1)).toBe('node');
    const folder = unpackImage();
    const [command, ...args] = commandOf(instructionsOf('CMD').at(-1));
    expect(command).toBe('node');
    const environment = { PATH: process.env['PATH'], DATABASE_URL: 'sqlite::memory:', DRAIN_DELAY_SECONDS: '3' };
    const server = spawn(process.execPath, args, { cwd: folder, env: { ...environment, HOST: '0.0.0.0', PORT: '0' } });
    onTestFinished(() => void server.kill('SIGKILL'));
    let port = '';
    for await (const line of createInterface(server.stderr)) {
      port = /"url":"http:\/\/0\.0\.0\.0:(\d+)\//.exec(line)?.[1] ?? '';
      if (port !== '') break;
    }
    const [, ...check] = commandOf(instructionsOf('HEALTHCHECK').at(-1));
    const isHealthy = () =>
      promisify(execFile)(process.execPath, check, { env: { PORT: port } }).then(
        () => true,
        () => false,
      );
    expect(await isHealthy()).toBe(true);
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    expect(await isHealthy()).toBe(false);
    expect(await ended).toEqual([0, null]);
  });

  it('installs every package that the sources import', () => {
    const files = findTypeScriptFiles('src').map((file) => readFileSync(inRepository(file), 'utf8'));
    const specifiers = files.flatMap((code) => readImports(code)).filter((specifier) => specifier !== undefined);
    const imported = specifiers.flatMap((specifier) => /^(?![.]|node:)(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? []);
    expect(imported.length).toBeGreaterThan(10);
    expect(imported.filter((name) => !(name in dependencies))).toEqual([]);
  });

  it('and compose.yaml name exact versions of the images that they use', () => {
    const own = instructionsOf('FROM').map((rest) => rest.split(' AS ')[1]);
    const bases = instructionsOf('FROM').flatMap((rest) => rest.split(' ')[0] ?? []);
    const images = [...bases, ...services.flatMap(([, { image, build }]) => (build ? [] : image))];
    const used = images.filter((image) => !own.includes(image));
    expect(used.map((image) => image.split(':')[0])).toEqual(['node', 'haproxy', 'postgres', 'redis']);
    for (const image of used) expect(image).toMatch(/^\w+:\d+\.\d+(\.\d+)?(-[a-z]+)?$/);
  });

  it('has the port and the volume that the sample of the README uses', () => {
    const [sample = ''] = /docker run .*?\n *```/s.exec(readFileSync(inRepository('README.md'), 'utf8')) ?? [];
    expect(/--publish \S+:(\d+) /.exec(sample)?.[1]).toBe(instructionsOf('EXPOSE')[0]);
    expect(/--volume \w+:(\S+) /.exec(sample)?.[1]).toBe(instructionsOf('VOLUME')[0]);
  });

  it('names the version of the package, and starts node with the options of npm start', () => {
    expect(dockerfile).toContain(`org.opencontainers.image.version="${version}"`);
    expect(commandOf(instructionsOf('CMD').at(-1))).toEqual(['node', ...(nodeOptions ?? []), 'src/main.ts', 'serve']);
  });

  it('and compose.yaml set only settings that exist', () => {
    const image = instructionsOf('ENV').flatMap((rest) => [...rest.matchAll(/(\w+)=/g)].map(([, name = '']) => name));
    const nodes = services.filter(([, { build }]) => build);
    const names = [...image, ...nodes.flatMap(([, { environment = {} }]) => Object.keys(environment))];
    expect(names.filter((name) => name !== 'NODE_ENV' && !listSettings().includes(name))).toEqual([]);
  });
});

describe('compose.yaml', () => {
  it('gives the nodes no root file system to write to', () => {
    const nodes = services.flatMap(([, service]) => (service.build ? [service] : []));
    expect(nodes.map((node) => node.read_only)).toEqual([true, true]);
  });

  it('mounts files that exist and volumes that it declares', () => {
    for (const [source = ''] of services.flatMap(([, { volumes = [] }]) =>
      volumes.map((volume) => volume.split(':')),
    )) {
      const isPresent = source.startsWith('.') ? existsSync(inRepository(source)) : source in compose.volumes;
      expect(isPresent, source).toBe(true);
    }
  });

  it('waits only for services that have a health check', () => {
    for (const name of services.flatMap(([, { depends_on = {} }]) => Object.keys(depends_on))) {
      const service = compose.services[name];
      expect(service?.healthcheck ?? (service?.build && instructionsOf('HEALTHCHECK')), name).toBeTruthy();
    }
  });

  it('passes clients to the nodes through the proxy on the published port', () => {
    const nodes = services.flatMap(([name, { build }]) => (build ? [name] : []));
    const targets = [...proxyConfig.matchAll(/^ +server \S+ (\w+):(\d+)$/gm)];
    expect(targets.map(([, name]) => name)).toEqual(nodes);
    expect(new Set(targets.map(([, , port]) => `PORT=${port}`))).toEqual(new Set(dockerfile.match(/\bPORT=\d+/g)));
    const [, bound] = /^ +bind :(\d+)$/m.exec(proxyConfig) ?? [];
    expect(compose.services['proxy']?.ports?.[0]?.split(':').at(-1)).toBe(bound);
  });

  it('gives the metrics of each node a port of their own, to which the proxy does not lead, and publishes no port of a node', () => {
    const nodes = services.flatMap(([, service]) => (service.build ? [service] : []));
    expect(nodes.map(({ environment, ports }) => [environment?.['METRICS_PORT'], ports])).toEqual([
      ['9464', undefined],
      ['9464', undefined],
    ]);
    expect(proxyConfig).not.toContain('9464');
  });
});

describe('deploy/postroom.service', () => {
  it('starts the program of the npm package with the options of npm start, and sets only settings that exist', () => {
    const [, ...words] = /^ExecStart=(.+)$/m.exec(unit)?.[1]?.split(' ') ?? [];
    expect(words.slice(0, -2)).toEqual(nodeOptions);
    expect(words.at(-1)).toBe('serve');
    const [, file = ''] = /\/node_modules\/@postroom\/server\/dist\/(.+)\.js$/.exec(words.at(-2) ?? '') ?? [];
    expect(existsSync(inRepository(`src/${file}.ts`)), file).toBe(true);
    expect(unit).toContain(`postroom-server-${version}.tgz`);
    const names = [...unit.matchAll(/^Environment=(.+)$/gm)].flatMap(([, rest = '']) => rest.match(/\w+(?==)/g) ?? []);
    expect(names.filter((name) => name !== 'NODE_ENV' && !listSettings().includes(name))).toEqual([]);
  });

  it.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)('and its backups are valid for systemd', () => {
    const folder = scratchFolder();
    for (const name of ['postroom.service', 'postroom-backup.service']) {
      const file = join(folder, name);
      const content = readFileSync(inRepository(`deploy/${name}`), 'utf8');
      // systemd refuses a program that does not exist.
      writeFileSync(file, content.replace('/usr/bin/node', process.execPath));
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
      expect({ status, stderr }, name).toEqual({ status: 0, stderr: '' });
    }
  });
});
