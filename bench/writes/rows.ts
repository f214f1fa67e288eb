import type { Run } from '../nodes/rows/run.ts';
import type { TableWithTargets } from '../support/table.ts';
import { slowDisk } from './slow-disk.ts';
import { throughput } from './throughput.ts';

export const rows: Record<string, (run: Run) => Promise<TableWithTargets>> = { throughput, 'slow-disk': slowDisk };
