/** Packs the packages of a checkout and publishes them, dependencies first. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageFilters, packageFolders } from '../packages/folders.js';

/**
 * @typedef {{ name: string, version: string, private?: boolean, dependencies?: Record<string, string>,
 *   peerDependencies?: Record<string, string>, exports: Record<string, unknown>, bin?: Record<string, string>,
 *   engines: { node: string } }} Manifest
 * @typedef {{ manifest: Manifest, tarball: string, isProgram: boolean }} Packed A package and its tarball.
 */

const run = promisify(execFile);
const shell = process.platform === 'win32';
const maxBuffer = 64 * 1024 * 1024;

/** @type {(checkout: string) => { manifest: Manifest, isProgram: boolean }[]} */
const publishedPackages = (checkout) =>
  packageFolders(checkout)
    .map(({ folder, isProgram }) => ({
      manifest: JSON.parse(readFileSync(join(checkout, folder, 'package.json'), 'utf8')),
      isProgram,
    }))
    .filter(({ manifest }) => manifest.private !== true);

/** Returns the manifests of the packages that are published. @type {(checkout: string) => Manifest[]} */
export const publishedManifests = (checkout) => publishedPackages(checkout).map(({ manifest }) => manifest);

/** Returns manifests so that each follows the packages that it needs. @type {(manifests: readonly Manifest[]) => Manifest[]} */
export const inOrder = (manifests) => {
  const byName = new Map(manifests.map((manifest) => [manifest.name, manifest]));
  /** @type {Set<Manifest>} */
  const ordered = new Set();
  /** @type {Set<string>} */
  const visited = new Set();
  const visit = (/** @type {Manifest} */ manifest) => {
    if (visited.has(manifest.name)) return;
    visited.add(manifest.name);
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
      const needed = byName.get(name);
      if (needed !== undefined) visit(needed);
    }
    ordered.add(manifest);
  };
  for (const manifest of manifests) visit(manifest);
  return [...ordered];
};

/**
 * Packs all published packages of a checkout with its dependencies installed.
 *
 * @type {(checkout: string, destination: string) => Promise<Packed[]>}
 */
export const packAll = async (checkout, destination) => {
  const args = ['--recursive', ...packageFilters(checkout), 'pack', '--json', '--pack-destination', destination];
  const { stdout } = await run('pnpm', args, { cwd: checkout, maxBuffer, shell });
  /** @type {{ name: string, filename: string }[]} */
  const packed = [JSON.parse(stdout)].flat();
  const tarballs = new Map(packed.map(({ name, filename }) => [name, filename]));
  const published = publishedPackages(checkout);
  const programs = new Set(published.flatMap(({ manifest, isProgram }) => (isProgram ? [manifest.name] : [])));
  return inOrder(published.map(({ manifest }) => manifest)).map((manifest) => {
    const tarball = tarballs.get(manifest.name);
    if (tarball === undefined) throw new Error(`${manifest.name} was not packed.`);
    return { manifest, tarball, isProgram: programs.has(manifest.name) };
  });
};

/** @type {(name: string, version: string, env: NodeJS.ProcessEnv) => Promise<boolean>} */
const isPublished = async (name, version, env) => {
  const { stdout } = await run('npm', ['view', `${name}@${version}`, 'version', '--json'], { env, shell }).catch(
    (/** @type {{ stdout?: string }} */ error) => {
      if (/E404|ETARGET/.test(error.stdout ?? '')) return { stdout: '' };
      throw error;
    },
  );
  return stdout.trim() !== '';
};

/**
 * Publishes packages that the registry does not have, one after the other. Returns the published ones. A failed release
 * can be repeated.
 *
 * @type {(packed: readonly Packed[], options: { env: NodeJS.ProcessEnv, provenance: boolean, skipsExisting: boolean, log:
 * (line: string) => void }) => Promise<Packed[]>}
 */
export const publishAll = async (packed, { env, provenance, skipsExisting, log }) => {
  /** @type {Packed[]} */
  const published = [];
  for (const each of packed) {
    const { name, version } = each.manifest;
    if (skipsExisting && (await isPublished(name, version, env))) continue;
    const options = ['--access', 'public', ...(provenance ? ['--provenance'] : [])];
    await run('npm', ['publish', each.tarball, ...options], { env, maxBuffer, shell });
    log(`published ${name}@${version}`);
    published.push(each);
  }
  return published;
};
