import { readFileSync } from 'node:fs';
import { defineConfig } from 'tsup';
import { entriesOf } from './entries.js';

/** Builds a package for publishing: ESM by esbuild, declarations by the TypeScript compiler. */
export const library = () => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
  const sources = entriesOf(exports).map(({ source }) => source.replace(/^\.\//, ''));
  return defineConfig({
    entry: Object.fromEntries(sources.map((source) => [source.replace(/^src\//, '').replace(/\.ts$/, ''), source])),
    format: 'esm',
    target: 'node20',
    platform: 'node',
    // `node:fs` must not become `fs`: other runtimes only know the former.
    removeNodeProtocol: false,
    sourcemap: true,
    clean: true,
    silent: true,
    // tsup's own declarations do not work with TypeScript 7.
    dts: false,
    onSuccess: 'tsc -p tsconfig.build.json',
  });
};
