import { stopWithParent } from './stop-with-parent.ts';

/* npm start */

stopWithParent();
await import('../src/main.ts');
