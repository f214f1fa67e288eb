export interface Run {
  rounds: number;
  /** Of the rows with one process: a multiple of 100. */
  subscribers: number;
  /** The length of a measurement. */
  seconds: number;
}

/** Costs by their names. */
export type Measured = Record<string, { value: number; unit: string }>;
