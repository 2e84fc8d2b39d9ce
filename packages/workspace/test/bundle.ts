import { build } from 'esbuild';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = join(dirname(fileURLToPath(import.meta.url)), '..', 'src');

/** Builds a file of this package into one that a Node process of its own can import. */
export const bundle = async (entry: string, outfile: string): Promise<void> => {
  await build({
    entryPoints: [join(source, entry)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@h/source'],
    external: ['e2b'],
    logLevel: 'silent',
  });
};
