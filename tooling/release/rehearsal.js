/** A release without consequences: new versions in a copy of the last commit, published to a registry on loopback. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { packageFolders } from '../packages/folders.js';
import { packAll, publishAll, publishedManifests } from './publish.js';
import { startRegistry } from './registry.js';

/**
 * @typedef {{ packages: readonly import('./publish.js').Packed[], versions: Map<string, { from: string, to: string }>,
 *   summary: string, registry: import('./registry.js').Registry, folder: string, stop: () => Promise<void> }} Rehearsal
 */

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const shell = process.platform === 'win32';
const maxBuffer = 64 * 1024 * 1024;

/** Copies the build of each package, which does not contain versions. @type {(copy: string) => Promise<void>} */
const copyBuilds = async (copy) => {
  for (const { folder } of packageFolders(copy)) {
    const dist = join(root, folder, 'dist');
    if (!existsSync(dist)) throw new Error(`${folder} is not built. Run: npx turbo run build`);
    await cp(dist, join(copy, folder, 'dist'), { recursive: true });
  }
};

/** @type {(checkout: string) => Map<string, string>} */
const versionsIn = (checkout) => new Map(publishedManifests(checkout).map(({ name, version }) => [name, version]));

/**
 * Publishes the next release to a registry on loopback. Call `stop` when you are done with it.
 *
 * @type {(log?: (line: string) => void) => Promise<Rehearsal>}
 */
export const rehearse = async (log = () => undefined) => {
  const folder = await mkdtemp(join(tmpdir(), 'h-release-'));
  const copy = join(folder, 'copy');
  /** @type {import('./registry.js').Registry | undefined} */
  let registry;
  const stop = async () => {
    await registry?.stop();
    await run('git', ['worktree', 'remove', '--force', copy], { cwd: root }).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await run('git', ['worktree', 'add', '--quiet', '--detach', copy], { cwd: root });
    log('Installing the dependencies of a copy …');
    await run('pnpm', ['install', '--frozen-lockfile', '--prefer-offline', '--ignore-scripts'], {
      cwd: copy,
      maxBuffer,
      shell,
    });
    const before = versionsIn(copy);
    await run(process.execPath, [join(copy, 'node_modules/@changesets/cli/bin.js'), 'version'], {
      cwd: copy,
      maxBuffer,
    });
    const after = versionsIn(copy);
    const { stdout: summary } = await run('git', ['diff', '--stat', '--', '*package.json'], { cwd: copy });
    await copyBuilds(copy);
    const tarballs = join(folder, 'tarballs');
    const data = join(folder, 'registry');
    await mkdir(tarballs);
    await mkdir(data);
    const packages = await packAll(copy, tarballs);
    log('Starting a registry on loopback …');
    registry = await startRegistry(data);
    await publishAll(packages, { env: registry.env, provenance: false, skipsExisting: false, log });
    const versions = new Map([...after].map(([name, to]) => [name, { from: before.get(name) ?? to, to }]));
    return { packages, versions, summary, registry, folder, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
