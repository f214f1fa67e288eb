import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inRepository } from '../repository.ts';
import { listSamples, readDocuments, type Sample } from './documents.ts';

/** The samples in the documentation that are not part of the files in clients/ that they name. */
export async function checkCopies(root = inRepository()): Promise<string[]> {
  return compareSamples(root, (await readDocuments(root)).flatMap(listSamples));
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

async function compareSamples(root: string, samples: Sample[]): Promise<string[]> {
  const ofClients = samples.filter(isOfClient).map((sample) => ({ ...splitName(sample), place: sample.place }));
  const problems = ofClients.map(async ({ name, code, place }) => {
    const text = await readFile(join(root, name), 'utf8').catch(() => '');
    return text.includes(code) ? [] : [`${place}: the sample is not part of ${name}`];
  });
  return (await Promise.all(problems)).flat();
}
