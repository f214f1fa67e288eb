import { cpus, loadavg } from 'node:os';

/** Prints the conditions of a run: date, version of Node, processors and load. */
export function printHeading(name: string): void {
  const all = cpus();
  const [load = 0] = loadavg();
  const today = new Date().toISOString().slice(0, 10);
  console.log(
    `${name}, ${today}, Node ${process.version}, ${all.length} × ${all[0]?.model.trim()}, load before the run ${load.toFixed(1)}\n`,
  );
}
