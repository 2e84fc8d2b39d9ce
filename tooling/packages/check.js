/**
 * Checks the manifest, the types and the size of every package in its published form, that its entries load from a
 * bundle in CommonJS, and the licenses of dependencies.
 * Requires a build.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { commonJsProblems } from './commonjs.js';
import { packageFilters, packageFolders } from './folders.js';
import { licenseProblems } from './licenses.js';
import { manifestProblems } from './manifest.js';
import { publishedProblems } from './published.js';
import { sizeProblems, sizesOf } from './size.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** @type {() => { folder: string, manifest: import('./manifest.js').Manifest, isProgram: boolean }[]} */
const findPackages = () =>
  packageFolders(root).map(({ folder, isProgram }) => ({
    folder: join(root, folder),
    manifest: JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')),
    isProgram,
  }));

/** @type {(folder: string) => Promise<Map<string, string>>} */
const packAll = async (folder) => {
  const args = ['--recursive', ...packageFilters(root), 'pack', '--json', '--pack-destination', folder];
  const { stdout } = await promisify(execFile)('pnpm', args, {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  /** @type {{ name: string, filename: string }[]} */
  const packed = [JSON.parse(stdout)].flat();
  return new Map(packed.map(({ name, filename }) => [name, filename]));
};

/** @type {(rows: readonly (readonly string[])[]) => string} */
const table = (rows) => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column < 1 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  '),
    )
    .join('\n');
};

const destination = await mkdtemp(join(tmpdir(), 'h-pack-'));
try {
  const packages = findPackages();
  const tarballs = await packAll(destination);
  const rows = [['bytes an import loads', 'minified', 'gzip', 'budget']];
  /** @type {string[]} */
  const problems = [...licenseProblems(), ...(await commonJsProblems(packages.filter(({ isProgram }) => !isProgram)))];
  for (const { folder, manifest, isProgram } of packages) {
    const built = await access(join(folder, 'dist')).then(
      () => true,
      () => false,
    );
    const sizes = built && !isProgram ? await sizesOf(folder, manifest) : [];
    const tarball = tarballs.get(manifest.name);
    const own = [
      ...manifestProblems(manifest, { isProgram }),
      ...(built ? sizeProblems(sizes, manifest) : ['not built']),
      ...(tarball === undefined ? ['not packed'] : await publishedProblems(tarball)),
    ];
    problems.push(...own.map((problem) => `${manifest.name}: ${problem}`));
    for (const { subpath, minified, gzip, budget } of sizes) {
      rows.push([join(manifest.name, subpath), String(minified), String(gzip), String(budget ?? 'none')]);
    }
  }
  console.log(table(rows));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`${packages.length} packages are ready to publish.`);
} finally {
  await rm(destination, { recursive: true, force: true });
}
