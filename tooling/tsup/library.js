import { readFileSync } from 'node:fs';
import { defineConfig } from 'tsup';

/**
 * The entry points of the package in the current folder: every export that names its source.
 *
 * @param {Record<string, unknown>} exports The `exports` field of package.json.
 * @returns {Record<string, string>} From the path in `dist`, without its extension, to the source file.
 */
export const entriesOf = (exports) =>
  Object.fromEntries(
    Object.values(exports).flatMap((target) => {
      if (typeof target !== 'object' || target === null || !('@h/source' in target)) return [];
      const source = String(target['@h/source']).replace(/^\.\//, '');
      return [[source.replace(/^src\//, '').replace(/\.ts$/, ''), source]];
    }),
  );

/** Builds a package for publishing: ESM by esbuild, declarations by the TypeScript compiler. */
export const library = () => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
  return defineConfig({
    entry: entriesOf(exports),
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
