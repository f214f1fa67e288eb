import { cpus, loadavg } from 'node:os';

/** What stands above the figures of a bench. */
export function printHead(name: string): void {
  const all = cpus();
  const [load = 0] = loadavg();
  const today = new Date().toISOString().slice(0, 10);
  console.log(
    `${name}, ${today}, Node ${process.version}, ${all.length} × ${all[0]?.model.trim()}, load ${load.toFixed(1)} before\n`,
  );
}
