import { parseArgs } from 'node:util';
import { type Fault, faults } from './faults.ts';

const usage = `Usage: npm run simulate -- [--seed N|new] [--seeds N | --seconds N] [--steps N] [--only FAULT,…]
                          [--mutants NAME|all] [--story] [--quick]
docs/reliability.md explains the options. The faults are ${faults.join(', ')}.`;

const maxNewSeed = 1_000_000;

/** What a user of the simulator asks for. */
export interface Options {
  /** The first seed. */
  seed: number;
  /** How many seeds follow each other; infinite if `seconds` is set. */
  seeds: number;
  /** For how long seeds follow each other; infinite if `seeds` limits them. */
  seconds: number;
  /** The faults and changes of a run end after this number of steps. */
  maxSteps: number;
  /** Only these faults; empty for those that each seed chooses. */
  only: readonly Fault[];
  /** Undefined unless copies of the source with defects are to be run: the name of one, or `all`. */
  mutants: string | undefined;
  /** Prints all that happens, also without a defect. */
  story: boolean;
  /** A defect is reported without its shortest prefix. */
  quick: boolean;
}

/** The options of the command line. For wrong ones it prints why, and how they are used, and ends the process with 2. */
export function readOptions(): Options {
  try {
    return toOptions(parse().values);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}\n`);
    return process.exit(2);
  }
}

function parse() {
  return parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string' },
      seconds: { type: 'string' },
      steps: { type: 'string' },
      only: { type: 'string', default: '' },
      mutants: { type: 'string' },
      story: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
    },
  });
}

/** @throws an Error for a value that is wrong. */
function toOptions({
  seed,
  seeds,
  seconds,
  steps,
  only,
  mutants,
  story,
  quick,
}: ReturnType<typeof parse>['values']): Options {
  const chosen = only.split(',').filter(Boolean);
  const unknown = chosen.find((name) => !(faults as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: there is no such fault.`);
  return {
    seed: seed === 'new' ? Math.floor(Date.now() / 1_000) % maxNewSeed : toNumber('--seed', seed),
    seeds: toNumber('--seeds', seeds ?? (seconds === undefined ? '1' : 'Infinity')),
    seconds: toNumber('--seconds', seconds ?? 'Infinity'),
    maxSteps: toNumber('--steps', steps ?? 'Infinity'),
    only: chosen as Fault[],
    mutants,
    story,
    quick,
  };
}

function toNumber(option: string, text: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (!(number >= 0)) throw new Error(`${option} must be a number (got "${text}").`);
  return number;
}
