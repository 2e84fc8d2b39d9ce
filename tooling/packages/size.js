import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { entriesOf } from '../tsup/entries.js';

/** @typedef {{ subpath: string, minified: number, gzip: number, budget: number | undefined }} Size */

/**
 * Returns the files that an entry loads immediately: its own file and imported chunks, without dynamic imports.
 *
 * @type {(outputs: import('esbuild').Metafile['outputs'], file: string, seen?: Set<string>) => Set<string>}
 */
const loadedBy = (outputs, file, seen = new Set()) => {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const { path, kind, external } of outputs[file]?.imports ?? []) {
    if (kind === 'import-statement' && external !== true) loadedBy(outputs, path, seen);
  }
  return seen;
};

/**
 * Returns the size of each entry of a built package: with dependencies, without peers, Node.js modules and dynamic
 * imports.
 *
 * @type {(folder: string, manifest: import('./manifest.js').Manifest) => Promise<Size[]>}
 */
export const sizesOf = async (folder, manifest) => {
  const peers = Object.keys(manifest.peerDependencies ?? {});
  return Promise.all(
    entriesOf(manifest.exports ?? {}).map(async ({ subpath, file }) => {
      const { metafile, outputFiles } = await build({
        absWorkingDir: folder,
        entryPoints: [{ in: join(folder, file), out: 'entry' }],
        outdir: join(folder, 'out'),
        external: peers.flatMap((peer) => [peer, `${peer}/*`]),
        bundle: true,
        minify: true,
        splitting: true,
        format: 'esm',
        platform: 'node',
        mainFields: ['module', 'main'],
        target: 'node20',
        legalComments: 'none',
        logLevel: 'silent',
        metafile: true,
        write: false,
      });
      const loaded = loadedBy(metafile.outputs, 'out/entry.js');
      const paths = new Set([...loaded].map((output) => join(folder, output)));
      const files = outputFiles.filter(({ path }) => paths.has(path));
      return {
        subpath,
        minified: files.reduce((sum, { contents }) => sum + contents.length, 0),
        gzip: files.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0),
        budget: manifest.h?.size?.[subpath],
      };
    }),
  );
};

/**
 * Returns entries without a budget or over their budget, and budgets without an entry.
 *
 * @type {(sizes: readonly Size[], manifest: import('./manifest.js').Manifest) => string[]}
 */
export const sizeProblems = (sizes, manifest) => [
  ...sizes.flatMap(({ subpath, gzip, budget }) => {
    const field = `"h": { "size": { "${subpath}": … } }`;
    if (budget === undefined) return [`size: ${field} in package.json is missing; the size is ${gzip} bytes with gzip`];
    return gzip > budget ? [`size: "${subpath}" is ${gzip} bytes with gzip, ${gzip - budget} over its budget`] : [];
  }),
  ...Object.keys(manifest.h?.size ?? {})
    .filter((subpath) => sizes.every((size) => size.subpath !== subpath))
    .map((subpath) => `size: "${subpath}" has a budget but is not an entry`),
];
