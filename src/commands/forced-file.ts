export interface ForcedFile {
  file: string;
  isForced: boolean;
}

/** Reads the arguments `FILE [--force]`, or prints the usage. */
export function readForcedFile(command: string, args: readonly string[]): ForcedFile | undefined {
  const [file, ...more] = args.filter((argument) => argument !== '--force');
  if (file !== undefined && more.length === 0 && !file.startsWith('-')) {
    return { file, isForced: args.includes('--force') };
  }
  process.stderr.write(`usage: postroom ${command} FILE [--force]\n`);
  return undefined;
}
