import type { TableWithTargets } from '../../support/table.ts';
import { bus } from './bus.ts';
import { createPost } from './create-post.ts';
import { delivery } from './delivery.ts';
import { driver } from './driver.ts';
import { hotRoom } from './hot-room.ts';
import { page } from './page.ts';
import type { Run } from './run.ts';
import { trips } from './trips.ts';

export const rows: Record<string, (run: Run) => Promise<TableWithTargets>> = {
  driver,
  'create-post': createPost,
  'hot-room': hotRoom,
  trips,
  bus,
  delivery,
  page,
};
