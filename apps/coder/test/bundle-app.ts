import { access, mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const pathOf = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));

const folder = pathOf(`.cache/app-${process.pid}`);

/**
 * Bundles the built app with its dependencies for the tests that start it: loading a few hundred modules takes a third
 * of the processor time of a start. Without a build, only the tests that need one fail.
 */
export const setup = async (): Promise<void> => {
  const main = pathOf('dist/main.js');
  const isBuilt = await access(main).then(
    () => true,
    () => false,
  );
  if (process.env['H_CODER_MAIN'] !== undefined || !isBuilt) return;
  await mkdir(folder, { recursive: true });
  await build({
    entryPoints: [main],
    outdir: folder,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outExtension: { '.js': '.mjs' },
    // It is loaded only if it is configured, and finds its parts by name.
    external: ['@opentelemetry/*'],
    // Dependencies in CommonJS call require().
    banner: {
      js: "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  process.env['H_CODER_MAIN'] = `${folder}/main.mjs`;
};

export const teardown = (): Promise<void> => rm(folder, { recursive: true, force: true });
