import { buildClientPackage } from './client-package.ts';

/* `npm pack` in packages/client runs this. */

await buildClientPackage();
