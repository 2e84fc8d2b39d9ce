import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

/** Puts a script of this folder and all that it needs into one file, so that a process can run it. */
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

/** What is unused of a test kit must not bring the test runner with it. */
const withoutVitest: Plugin = {
  name: 'without-vitest',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^vitest$/ }, ({ path }) => ({ path, external: true, sideEffects: false })),
};
