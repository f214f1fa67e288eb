export interface Run {
  rounds: number;
  /** The length of a measurement. */
  seconds: number;
}
