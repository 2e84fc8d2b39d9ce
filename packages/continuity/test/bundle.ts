import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

/** Bundles a script of this folder into one file that a process can run. */
export const bundle = async (script: string, outfile: string): Promise<void> => {
  await build({
    entryPoints: [fileURLToPath(new URL(script, import.meta.url))],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['@h/source'],
    plugins: [withoutVitest],
    logLevel: 'silent',
  });
};

/** Keeps the test runner out of the bundle. */
const withoutVitest: Plugin = {
  name: 'without-vitest',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^vitest$/ }, ({ path }) => ({ path, external: true, sideEffects: false })),
};
