import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

/**
 * Bundles a script with its packages into one file that starts fast, for tests that start many processes. The script has no
 * `await` at its top level.
 *
 * The first process that exits normally fills a compile cache, which later processes reuse.
 *
 * @returns the script to run
 */
export const bundleScript = async (script: URL, folder: string): Promise<string> => {
  const outfile = `${folder}/bundle.cjs`;
  await build({
    entryPoints: [fileURLToPath(script)],
    outfile,
    bundle: true,
    minify: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    conditions: ['@h/source'],
    plugins: [withoutUnused],
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

/** Leaves out test code that needs the test runner, and tokenizer vocabularies that models of tests do not load. */
const withoutUnused: Plugin = {
  name: 'without-unused',
  setup: (building) => {
    building.onResolve({ filter: /^vitest$|\/(o200k|cl100k)-base\.js$/ }, ({ path }) => ({
      path,
      external: true,
      sideEffects: false,
    }));
  },
};
