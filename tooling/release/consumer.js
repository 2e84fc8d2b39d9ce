/** A clean project that installs published packages, and what it can do with them in each runtime. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isAtLeast } from '../vitest/newer-node.js';

/** @typedef {import('./publish.js').Manifest} Manifest */

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const shell = process.platform === 'win32';
const maxBuffer = 64 * 1024 * 1024;

/** Entries that only run inside of another program: `@h/turn/vitest` in vitest. */
const hosted = new Set(['@h/turn/vitest', '@h/session/testing']);

/**
 * Optional peers that are loaded on demand and not installed here, because Strands accepts only an older version of them.
 */
const onDemand = new Set(['@opentelemetry/exporter-trace-otlp-http', '@opentelemetry/exporter-metrics-otlp-http']);

/** Returns the entries of a package that a program can import. @type {(manifest: Manifest) => string[]} */
export const entriesOf = ({ name, exports, bin = {} }) =>
  Object.entries(exports).flatMap(([subpath, target]) => {
    if (typeof target !== 'object' || target === null) return [];
    const { default: file } = /** @type {{ default?: string }} */ (target);
    const entry = `${name}${subpath.slice(1)}`;
    return Object.values(bin).includes(file ?? '') || hosted.has(entry) ? [] : [entry];
  });

/** Whether a package supports a version of Node. @type {(manifest: Manifest, version: string) => boolean} */
export const supports = ({ engines }, version) => isAtLeast(version, engines.node.replace('>=', ''));

/** Returns the exact version of a library in the workspace. @type {(name: string) => string | undefined} */
const catalogVersion = (name) =>
  new RegExp(`^  '?${name}'?: (.*)$`, 'm').exec(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8'))?.[1];

/**
 * Installs all packages from a registry, with their peers in the tested versions, in an empty project. Everything else
 * comes from the usual registry. Returns the project.
 *
 * @type {(folder: string, manifests: readonly Manifest[], registry: string) => Promise<string>}
 */
export const installAll = async (folder, manifests, registry) => {
  const project = join(folder, 'project');
  await mkdir(project);
  const own = Object.fromEntries(
    manifests.map(({ name, version }) => [
      name,
      name.startsWith('@h/') ? version : `${registry}${name}/-/${name}-${version}.tgz`,
    ]),
  );
  const peers = manifests
    .flatMap(({ peerDependencies = {} }) => Object.keys(peerDependencies))
    .flatMap((name) => {
      const version = name in own || onDemand.has(name) ? undefined : catalogVersion(name);
      return version === undefined ? [] : [[name, version]];
    });
  const dependencies = { ...Object.fromEntries(peers), ...own };
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }));
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', `--@h:registry=${registry}`];
  await run('npm', ['install', ...options], { cwd: project, maxBuffer, shell });
  return project;
};

/**
 * Installs a program in a folder of its own, as `npx` does, and returns what its commands print with `--help`.
 *
 * @type {(folder: string, manifest: Manifest, registry: string) => Promise<{ name: string, help: string }[]>}
 */
export const installProgram = async (folder, { name, version, bin = {} }, registry) => {
  const project = join(folder, name.replace('@h/', ''));
  await mkdir(project);
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, dependencies: { [name]: version } }));
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', `--@h:registry=${registry}`];
  await run('npm', ['install', ...options], { cwd: project, maxBuffer, shell });
  return Promise.all(
    Object.keys(bin).map(async (command) => {
      const { stdout } = await run(join(project, 'node_modules/.bin', command), ['--help'], { cwd: project, shell });
      return { name: command, help: stdout };
    }),
  );
};

/** The program that loads entries, by `import` and by `require()` if the runtime can, and prints problems. */
const loader = `
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const canRequire = process.features.require_module === true || process.versions.bun !== undefined;
const problems = [];
const namesOf = (module) => Object.keys(module).filter((name) => name !== 'module.exports' && name !== '__esModule').sort().join();
for (const entry of JSON.parse(process.argv[2])) {
  try {
    const names = namesOf(await import(entry));
    if (canRequire && namesOf(require(entry)) !== names) problems.push(entry + ': require() returns other exports');
  } catch (error) {
    problems.push(entry + ': ' + String(error?.message ?? error).split('\\n')[0]);
  }
}
console.log(JSON.stringify({ canRequire, problems }));
process.exit();
`;

/**
 * Loads entries in a runtime. Returns whether it loads ES modules with `require()`, and the problems.
 *
 * @type {(runtime: string, project: string, entries: readonly string[]) => Promise<{ canRequire: boolean, problems:
 * string[] }>}
 */
export const loadEntries = async (runtime, project, entries) => {
  await writeFile(join(project, 'load.mjs'), loader);
  const { stdout } = await run(runtime, ['load.mjs', JSON.stringify(entries)], {
    cwd: project,
    timeout: 300_000,
    maxBuffer,
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
};

/** The npm package with the binary of Bun for each platform. @type {Readonly<Partial<Record<string, string>>>} */
const bunPackages = {
  'darwin-arm64': '@oven/bun-darwin-aarch64',
  'darwin-x64': '@oven/bun-darwin-x64',
  'linux-arm64': '@oven/bun-linux-aarch64',
  'linux-x64': '@oven/bun-linux-x64',
  'win32-x64': '@oven/bun-windows-x64',
};

/** Installs Bun in a folder and returns its path. @type {(folder: string) => Promise<string>} */
export const installBun = async (folder) => {
  const name = bunPackages[`${process.platform}-${process.arch}`];
  if (name === undefined) throw new Error(`npm has no Bun for ${process.platform}-${process.arch}.`);
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--no-save'];
  await run('npm', ['install', '--prefix', folder, ...options, `${name}@1.4.5`], { shell });
  return join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'bun.exe' : 'bun');
};
