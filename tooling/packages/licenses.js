/**
 * The licenses of everything that an installation of the packages brings. `node tooling/packages/licenses.js` writes
 * `docs/licenses.md`.
 */
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFolders } from './folders.js';

/**
 * @typedef {{ name: string, version: string, license: string }} Library
 * @typedef {{
 *   name: string, version: string, private?: boolean, license?: string, licenses?: { type: string }[],
 *   dependencies?: Record<string, string>, peerDependencies?: Record<string, string> }} Manifest
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = join(root, 'docs/licenses.md');

/** Licenses that the dependencies of an MIT package may have. */
const accepted = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Python-2.0',
  'CC0-1.0',
  'Unlicense',
  'MIT-0',
]);

/** @type {(folder: string) => Manifest} */
const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** Returns the folder of a dependency as Node would resolve it. @type {(from: string, name: string) => string | undefined} */
const resolveFrom = (from, name) => {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name);
    if (existsSync(join(found, 'package.json'))) return realpathSync(found);
    if (folder === dirname(folder)) return undefined;
  }
};

/** @type {(manifest: Manifest) => string} */
const licenseOf = ({ license, licenses }) => license ?? licenses?.map(({ type }) => type).join(' OR ') ?? 'unknown';

/** Adds a library and everything it needs. @type {(folder: string, found: Map<string, Library>, seen: Set<string>) => void} */
const visit = (folder, found, seen) => {
  if (seen.has(folder)) return;
  seen.add(folder);
  const manifest = manifestOf(folder);
  if (!manifest.name.startsWith('@h/') && manifest.name !== 'create-h') {
    const { name, version } = manifest;
    found.set(`${name}@${version}`, { name, version, license: licenseOf(manifest) });
  }
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    const next = resolveFrom(folder, name);
    if (next !== undefined) visit(next, found, seen);
  }
};

/** Returns the libraries that an installation of all packages brings, sorted by name. @type {() => Library[]} */
export const findLibraries = () => {
  /** @type {Map<string, Library>} */
  const found = new Map();
  /** @type {Set<string>} */
  const seen = new Set();
  for (const { folder } of packageFolders(root)) visit(join(root, folder), found, seen);
  return [...found.values()].toSorted((one, other) =>
    `${one.name}@${one.version}` < `${other.name}@${other.version}` ? -1 : 1,
  );
};

/** @type {(license: string) => boolean} */
const isAccepted = (license) =>
  license
    .replaceAll(/[()]/g, '')
    .split(/ OR /)
    .some((name) => accepted.has(name));

/** Returns the page that lists the libraries. @type {(libraries: readonly Library[]) => string} */
export const licensePage = (libraries) =>
  [
    '# Licenses',
    '',
    'What an installation of all packages brings, besides the packages themselves (MIT) and peer dependencies, which a project chooses.',
    '`node tooling/packages/licenses.js` writes this page.',
    '',
    '| library | version | license |',
    '|---|---|---|',
    ...libraries.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`),
    '',
  ].join('\n');

/** Returns libraries with a license that is not accepted, and whether the page is outdated. @type {() => string[]} */
export const licenseProblems = () => {
  const libraries = findLibraries();
  const isCurrent = existsSync(page) && readFileSync(page, 'utf8') === licensePage(libraries);
  return [
    ...libraries
      .filter(({ license }) => !isAccepted(license))
      .map(({ name, version, license }) => `${name}@${version}: the license ${license} is not accepted`),
    ...(isCurrent ? [] : ['docs/licenses.md is not current. Run: node tooling/packages/licenses.js']),
  ];
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(page, licensePage(findLibraries()));
  const problems = licenseProblems();
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
