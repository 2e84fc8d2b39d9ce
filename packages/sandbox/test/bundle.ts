import { build } from 'esbuild';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = join(dirname(fileURLToPath(import.meta.url)), '..', 'src');

/** Builds a file of this package into a folder, as `entry.mjs`, for a separate Node process. */
export const bundle = async (file: string, folder: string): Promise<void> => {
  await build({
    entryPoints: [{ in: join(source, file), out: 'entry' }],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Lazy imports stay lazy, so that a missing package has no effect.
    splitting: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@h/source'],
    external: ['e2b'],
    logLevel: 'silent',
  });
};
