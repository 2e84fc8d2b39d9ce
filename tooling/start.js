/**
 * `npm start`, `npm run station` and `npm run audit`: installs the locked dependencies and builds an app unless both are current, then
 * runs the app in this process with the given arguments. Messages of the installation and the build go to standard error.
 */
import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { isBuilt, markBuilt } from './build-stamp.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const [name = 'coder'] = process.argv.splice(2, 1);
const app = fileURLToPath(new URL(`../apps/${name}/dist/main.js`, import.meta.url));
const { packageManager } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
const pnpm = ['npx', '--yes', '--prefer-offline', packageManager];
const shell = process.platform === 'win32';

/** Compares the lockfile with the copy that pnpm writes to `node_modules` after an installation. */
const isInstalled = async () => {
  const [wanted, current] = await Promise.all(
    ['../pnpm-lock.yaml', '../node_modules/.pnpm/lock.yaml'].map((path) =>
      readFile(new URL(path, import.meta.url), 'utf8').catch(() => undefined),
    ),
  );
  return wanted !== undefined && wanted === current;
};

/**
 * Shows only the progress, and the whole output if it fails: pnpm warns about each package that needs a newer Node.js
 * than the apps.
 *
 * @type {() => Promise<void>}
 */
const install = () =>
  new Promise((resolve, reject) => {
    console.error('Installing the dependencies …');
    const [command = '', ...args] = [...pnpm, 'install', '--frozen-lockfile', '--reporter', 'append-only'];
    const installation = spawn(command, args, { cwd: root, shell, stdio: ['ignore', 'pipe', 'inherit'] });
    /** @type {string[]} */
    const hidden = [];
    createInterface({ input: installation.stdout }).on('line', (line) => {
      if (line.startsWith('Progress:')) console.error(line);
      else hidden.push(line);
    });
    installation.once('error', reject).once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error([...hidden, 'Installing the dependencies failed.'].join('\n')));
    });
  });

/** @type {() => Promise<void>} */
const build = async () => {
  const [command = '', ...args] = [
    ...pnpm,
    'exec',
    'turbo',
    'run',
    'build',
    `--filter=@h/${name}`,
    '--output-logs=errors-only',
  ];
  const patience = setTimeout(() => console.error('Building …'), 2000);
  try {
    await promisify(execFile)(command, args, {
      cwd: root,
      shell,
      env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' },
    });
  } catch (error) {
    const { stdout = '', stderr = '' } = /** @type {{ stdout?: string, stderr?: string }} */ (error);
    console.error(`${stdout}${stderr}`.trim());
    throw new Error('Building the app failed.', { cause: error });
  } finally {
    clearTimeout(patience);
  }
};

try {
  if (!(await isInstalled())) await install();
  if (!(await isBuilt(root, name))) {
    const startedAt = Date.now();
    await build();
    await markBuilt(root, name, startedAt);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
process.argv[1] = app;
await import(pathToFileURL(app).href);
