import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@babel/core';

/* What the Relay plugin of a bundler does, for Node: the tag `graphql` becomes an import of the generated module. */

registerHooks({
  resolve: (specifier, context, next) => next(specifier.endsWith('.graphql') ? `${specifier}.ts` : specifier, context),
  load(url, context, next) {
    const module = next(url, context);
    const source = String(module.source);
    if (url.includes('/node_modules/') || !source.includes('graphql`')) return module;
    const plugins = [['relay', { eagerEsModules: true }]];
    const parserOpts = { plugins: ['typescript'] };
    const filename = fileURLToPath(url);
    return {
      ...module,
      source: transformSync(source, { filename, plugins, parserOpts, configFile: false })?.code ?? '',
    };
  },
});
