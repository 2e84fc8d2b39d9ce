/**
 * `node bench/size.mjs`: prints what `@h/turn` takes in a program that imports `harness` only, minified and compressed, and what
 * it would take without each of its parts. A part is replaced by an empty module, so nothing is left of it but its calls.
 */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { markdownTable } from './report.mjs';

const folder = fileURLToPath(new URL('../packages/turn/src/', import.meta.url));

/** Modules of `packages/turn/src` and packages, by what they do. */
const parts = {
  'checks of input, options, driver output and events':
    /\/turn\/src\/\w+\/(data-checks|event-checks|event-types|foreign-message|ingest|json|message-checks|well-formed)\.ts$|\/packages\/options\//,
  'repair of transcripts': /\/turn\/src\/\w+\/repair\.ts$/,
  'crash recovery: journal, replay, closing of interrupted turns':
    /\/turn\/src\/\w+\/(journal|opening|replacements)\.ts$/,
  'operators: `decide`, `observe`, holding, native RxJS':
    /\/turn\/src\/\w+\/(segment|segment-plan|pipeline|replacements|decision)\.ts$/,
  'sessions in memory, the default store': /\/turn\/src\/\w+\/memory-sessions\.ts$/,
};

const without = (pattern) => ({
  name: 'without',
  setup: ({ onLoad }) => {
    if (pattern) onLoad({ filter: pattern }, () => ({ contents: 'module.exports = {}', loader: 'js' }));
  },
});

const sizeOf = async (program, pattern) => {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: folder },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['@h/source'],
    external: ['rxjs'],
    plugins: [without(pattern)],
    logLevel: 'silent',
    write: false,
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
};

const harness = `export { harness } from './harness.ts'`;
const whole = await sizeOf(harness);
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
const rows = Object.entries(parts).map(async ([title, pattern]) => {
  const size = await sizeOf(harness, pattern);
  return [`without ${title}`, kilobytes(size), kilobytes(whole - size)];
});
console.log(
  markdownTable(
    ['', 'minified, gzip', 'difference'],
    [
      ['all exports of `@h/turn`', kilobytes(await sizeOf(`export * from './index.ts'`)), ''],
      ['`harness` only', kilobytes(whole), ''],
      ...(await Promise.all(rows)),
    ],
  ),
);
