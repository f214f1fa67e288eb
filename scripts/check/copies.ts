import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { inRepository } from '../repository.ts';
import { listSamples, readDocuments, type Sample } from './documents.ts';

/** Files of the root that clients and examples copy. */
const copiedFiles = ['possible-types.json', 'schema.graphql'];

/** The samples in the documentation and the files in clients/ and examples/ that are not the copies that they should be. */
export async function checkCopies(root = inRepository()): Promise<string[]> {
  const samples = (await readDocuments(root)).flatMap(listSamples);
  const originals = new Map<string, string>();
  for (const name of copiedFiles) originals.set(name, await readFile(join(root, name), 'utf8'));
  return [...(await compareFiles(root, originals)), ...(await compareSamples(root, samples))];
}

/** Whether a sample begins with the path of the file in clients/ that contains it. */
export function isOfClient(sample: Sample): boolean {
  return splitName(sample).name.startsWith('clients/');
}

/** The file name in the comment of the first line, and the lines after it. */
function splitName({ code }: Sample): { name: string; code: string } {
  const [, name = '', rest = ''] = /^(?:\/\/|#) (\S+)\n(.*)$/s.exec(code) ?? [];
  return { name, code: rest };
}

async function compareFiles(root: string, originals: Map<string, string>): Promise<string[]> {
  const paths = globSync(['clients/*/*', 'examples/*/src/*'], { cwd: root }).filter((path) =>
    originals.has(basename(path)),
  );
  const texts = await Promise.all(paths.map((path) => readFile(join(root, path), 'utf8')));
  return paths.flatMap((path, index) =>
    texts[index] === originals.get(basename(path)) ? [] : `${path} is not a copy of its original`,
  );
}

async function compareSamples(root: string, samples: Sample[]): Promise<string[]> {
  const ofClients = samples.filter(isOfClient).map((sample) => ({ ...splitName(sample), place: sample.place }));
  const problems = ofClients.map(async ({ name, code, place }) => {
    const text = await readFile(join(root, name), 'utf8').catch(() => '');
    return text.includes(code) ? [] : [`${place}: the sample is not part of ${name}`];
  });
  return (await Promise.all(problems)).flat();
}
