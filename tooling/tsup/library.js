import { readFileSync } from 'node:fs';
import { defineConfig } from 'tsup';
import { entriesOf } from './entries.js';

/**
 * Returns the build settings of a published package: esbuild creates the ESM, the TypeScript compiler the declarations.
 */
export const library = () => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
  const sources = entriesOf(exports).map(({ source }) => source.replace(/^\.\//, ''));
  return defineConfig({
    entry: Object.fromEntries(sources.map((source) => [source.replace(/^src\//, '').replace(/\.ts$/, ''), source])),
    format: 'esm',
    target: 'node20',
    platform: 'node',
    // Keeps `node:fs`, because other runtimes do not support `fs`.
    removeNodeProtocol: false,
    sourcemap: true,
    clean: true,
    silent: true,
    // Letters of other scripts stay as they are, because escapes are up to three times as long.
    esbuildOptions: (options) => {
      options.charset = 'utf8';
    },
    // The declaration build of tsup does not support TypeScript 7.
    dts: false,
    onSuccess: 'tsc -p tsconfig.build.json',
  });
};
