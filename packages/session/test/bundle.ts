import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

/**
 * Puts a script of this folder and all that it needs into one file that starts fast: what the first process that ends by
 * itself has compiled is kept for those after it.
 *
 * @returns the script to run
 */
export const bundle = async (script: string, folder: string): Promise<string> => {
  const outfile = `${folder}/bundle.cjs`;
  await build({
    entryPoints: [fileURLToPath(new URL(script, import.meta.url))],
    outfile,
    bundle: true,
    minify: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    conditions: ['@h/source'],
    plugins: [withoutVitest],
    logLevel: 'silent',
  });
  const starter = `${folder}/start.cjs`;
  await writeFile(starter, startFrom(outfile));
  return starter;
};

const startFrom = (file: string): string => `
  const { Script } = require('node:vm');
  const { existsSync, readFileSync, writeFileSync } = require('node:fs');
  const file = ${JSON.stringify(file)};
  const isCached = existsSync(file + '.cache');
  const source = '(function (require) {' + readFileSync(file, 'utf8') + '\\n})';
  const script = new Script(source, { filename: file, ...(isCached && { cachedData: readFileSync(file + '.cache') }) });
  if (!isCached) process.once('exit', () => writeFileSync(file + '.cache', script.createCachedData()));
  script.runInThisContext()(require);
`;

/** What is unused of a test kit must not bring the test runner with it. */
const withoutVitest: Plugin = {
  name: 'without-vitest',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^vitest$/ }, ({ path }) => ({ path, external: true, sideEffects: false })),
};
