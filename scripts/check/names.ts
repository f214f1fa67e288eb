import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import { listSettings } from '../../src/config/config.ts';
import { clientErrors } from '../../src/errors.ts';
import { findTypeScriptFiles, inRepository, runNode } from '../repository.ts';
import { type Document, listCodeSpans, listSamples, readDocuments } from './documents.ts';

/** The documents that describe the code itself: their folders and identifiers must exist in src/. */
const aboutTheCode = ['docs/architecture.md', 'docs/glossary.md'];

/** Returns the names in a text between backticks, or in a shell sample, that do not exist. */
type Rule = (text: string, document: Document) => string[];

/** The names of files, scripts, commands, settings and identifiers in the documentation that do not exist. */
export async function checkNames(root = inRepository()): Promise<string[]> {
  const documents = await readDocuments(root);
  const rules = [
    ruleOfFiles(root),
    await ruleOfScripts(root),
    await ruleOfCommands(),
    ruleOfConstants(),
    await ruleOfCode(root),
  ];
  return documents.flatMap((document) =>
    listTexts(document).flatMap((text) =>
      rules.flatMap((rule) => rule(text, document).map((name) => `${document.path}: ${name} does not exist`)),
    ),
  );
}

function listTexts(document: Document): string[] {
  const samples = listSamples(document).filter(({ language }) => language === 'sh');
  return [...listCodeSpans(document), ...samples.map(({ code }) => code)];
}

function ruleOfFiles(root: string): Rule {
  const paths = globSync('{*,{src,test,scripts,bench,docs,clients,examples,packages}/**/*}', {
    cwd: root,
    exclude: ['**/node_modules'],
  });
  const names = new Set(paths.map((path) => basename(path)));
  const isPresent = (path: string) =>
    names.has(path) || ['', 'src'].some((folder) => paths.includes(posix.join(folder, path)));
  const isPath = (word: string) => /^(\.?[\w-]+\/)*[\w.-]+\.(ts|graphql|json|md)$/.test(word) && !word.includes('NAME');
  return (text) => text.split(/\s+/).filter((word) => isPath(word) && !isPresent(word));
}

async function ruleOfScripts(root: string): Promise<Rule> {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    await readFile(join(root, 'package.json'), 'utf8'),
  );
  return (text) =>
    findAll(text, /\bnpm (?:run )?(?!ci\b|install\b|pack\b|run\b|sbom\b)([a-z][a-z:-]*)/g).filter(
      (name) => !(name in scripts),
    );
}

async function ruleOfCommands(): Promise<Rule> {
  const { stdout } = await runNode(['src/main.ts', '--help']);
  const commands = findAll(stdout, /\bpostroom ([a-z-]+)/g);
  return (text) => findAll(text, /\bnpx postroom ([a-z-]+)/g).filter((name) => !commands.includes(name));
}

/** Settings and error codes of the server. */
function ruleOfConstants(): Rule {
  const known = new Set([...listSettings(), ...Object.keys(clientErrors)]);
  return (text, { path }) => {
    const [, name] = /^([A-Z]+(?:_[A-Z]+)+)(?:=|$)/.exec(text) ?? [];
    return name && !known.has(name) && !/^(bench|packages)\//.test(path) ? [name] : [];
  };
}

async function ruleOfCode(root: string): Promise<Rule> {
  const files = findTypeScriptFiles('src', root);
  const code = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')));
  const words = new Set(code.flatMap((text) => text.match(/\w+/g) ?? []));
  const isFolder = (path: string) => files.some((file) => file.startsWith(`src/${path}/`));
  return (text, { path }) => {
    if (!aboutTheCode.includes(path)) return [];
    if (/^[a-z]+\/[a-z]+$/.test(text)) return isFolder(text) ? [] : [text];
    const isIdentifier = /^[A-Za-z]+(\.[A-Za-z]+)?$/.test(text) && /[A-Z]/.test(text);
    return isIdentifier && !text.split('.').every((word) => words.has(word)) ? [text] : [];
  };
}

function findAll(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].flatMap(([, name]) => name ?? []);
}
