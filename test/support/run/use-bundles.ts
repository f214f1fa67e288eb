import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { bundledPackages, bundleFolder } from './bundled-packages.ts';

/* Loaded before the program with `node --import`. Loads each bundled package from its bundle. */

if (existsSync(bundleFolder)) {
  registerHooks({
    resolve(name, context, resolveNext) {
      if (!bundledPackages.includes(name)) return resolveNext(name, context);
      return { url: pathToFileURL(`${bundleFolder}/${name}.mjs`).href, shortCircuit: true };
    },
  });
}
