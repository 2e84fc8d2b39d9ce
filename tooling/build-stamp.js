/**
 * Checks within milliseconds, by modification times, whether the build of the reference app is current.
 *
 * turbo performs the exact check, but takes longer than the start of the app. If in doubt, this check returns `false`,
 * and turbo decides.
 */
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const stampOf = (/** @type {string} */ root, /** @type {string} */ app) =>
  join(root, '.cache', 'start', `built-${app}.json`);

/** Inputs of a build besides the sources of the packages. */
const shared = [
  'package.json',
  'pnpm-lock.yaml',
  'tsconfig.base.json',
  'turbo.json',
  'tooling/tsup',
  'tooling/tsconfig',
];

/**
 * @param {string} root of the repository
 * @param {string} app the name of its folder
 * @returns {Promise<boolean>}
 */
export const isBuilt = async (root, app) => {
  try {
    const stamp = JSON.parse(await readFile(stampOf(root, app), 'utf8'));
    const [newest] = await Promise.all([
      newestSource(root),
      ...stamp.outputs.map((/** @type {string} */ path) => stat(join(root, path))),
    ]);
    return newest < stamp.startedAt;
  } catch {
    return false;
  }
};

/**
 * Records a build. It is current as long as every source is older than the start of the build.
 *
 * @param {string} root of the repository
 * @param {string} app the name of its folder
 * @param {number} startedAt as milliseconds since 1970
 */
export const markBuilt = async (root, app, startedAt) => {
  const folders = await packageFolders(root);
  const found = await Promise.all(
    folders.map((folder) =>
      stat(join(root, folder, 'dist')).then(
        () => [join(folder, 'dist')],
        () => [],
      ),
    ),
  );
  await mkdir(dirname(stampOf(root, app)), { recursive: true });
  await writeFile(stampOf(root, app), JSON.stringify({ startedAt, outputs: found.flat() }));
};

const newestSource = async (/** @type {string} */ root) => {
  const folders = await packageFolders(root);
  const paths = [
    ...shared,
    ...folders.flatMap((folder) => ['src', 'package.json', 'tsup.config.ts'].map((name) => join(folder, name))),
  ];
  return Math.max(...(await Promise.all(paths.map((path) => newest(join(root, path))))));
};

const packageFolders = async (/** @type {string} */ root) => {
  const groups = await Promise.all(
    ['packages', 'apps'].map(async (group) => (await readdir(join(root, group))).map((name) => join(group, name))),
  );
  return groups.flat();
};

/**
 * Returns the latest modification time below a path. Folders count too, because removing a file changes its folder.
 *
 * @param {string} path
 * @returns {Promise<number>}
 */
const newest = async (path) => {
  const info = await stat(path).catch(() => undefined);
  if (info === undefined) return 0;
  if (!info.isDirectory()) return info.mtimeMs;
  const names = await readdir(path);
  return Math.max(info.mtimeMs, ...(await Promise.all(names.map((name) => newest(join(path, name))))));
};
