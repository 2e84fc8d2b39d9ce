import { lstat, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { captureProcess, minimalEnvironment, processState, thisProcess, type ProcessMark } from '@h/process';

/** The devices that `bwrap --dev` shares with the machine: name, major and minor number. */
const devices = [
  ['null', 1, 3],
  ['zero', 1, 5],
  ['full', 1, 7],
  ['random', 1, 8],
  ['urandom', 1, 9],
  ['tty', 5, 0],
] as const;

/** How long the creation of the devices may take. */
const timeoutMs = 10_000;

/** The beginning of the names of the folders with devices, and the file in each that identifies its process. */
const prefix = 'h-devices-';
const ownerFile = 'owner.json';

/** Devices that belong to one sandbox. */
export interface PrivateDevices {
  /** Arguments of `bwrap` that mount them, after `--dev`. */
  readonly mounts: readonly string[];
  /** Deletes them. */
  remove(): Promise<void>;
}

/**
 * Creates devices for a sandbox of root. Root owns the devices of the machine, so a command needs no capability to change
 * their permissions: `chmod 000 /dev/null` would break other programs.
 *
 * @returns `undefined` for other users, who cannot change them, and if root may not create devices, as in some containers
 */
export const createPrivateDevices = async (): Promise<PrivateDevices | undefined> => {
  if (process.getuid?.() !== 0) return undefined;
  await sweep();
  const folder = await mkdtemp(join(tmpdir(), prefix));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await writeFile(join(folder, ownerFile), JSON.stringify(thisProcess()));
    for (const [name, major, minor] of devices) {
      const command = ['mknod', '-m', '666', join(folder, name), 'c', String(major), String(minor)] as const;
      const { exitCode } = await captureProcess({ command, environment: minimalEnvironment(process.env), timeoutMs });
      if (exitCode !== 0) throw new Error('mknod failed.');
    }
    // A file system with the option `nodev` has devices that cannot be opened.
    await (await open(join(folder, 'null'), 'w')).close();
  } catch {
    await remove();
    return undefined;
  }
  return { mounts: devices.flatMap(([name]) => ['--dev-bind', join(folder, name), `/dev/${name}`]), remove };
};

/** Deletes what processes that were killed have left. */
const sweep = async (): Promise<void> => {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(prefix))) {
    const folder = join(tmpdir(), name);
    try {
      // Any user may create a folder with such a name, and could replace its files by links while they are deleted.
      const { uid, mode } = await lstat(folder);
      if (uid !== 0 || (mode & 0o077) !== 0) continue;
      const owner = JSON.parse(await readFile(join(folder, ownerFile), 'utf8')) as ProcessMark;
      if (processState(owner) === 'dead') await rm(folder, { recursive: true, force: true });
    } catch {
      // Another process is creating or deleting it.
    }
  }
};
