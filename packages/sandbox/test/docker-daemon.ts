import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';

/** A separate Docker daemon with one image. */
export interface DockerDaemon {
  /** As in `DOCKER_HOST`. */
  readonly host: string;
  /** An image that contains only busybox. */
  readonly image: string;
  docker(...args: string[]): string;
  stop(): Promise<void>;
}

/** Returns whether a 64-bit ELF program is statically linked, so that it runs in an empty image. */
const isStatic = (path: string): boolean => {
  const program = readFileSync(path);
  const [start, size, count] = [
    Number(program.readBigUInt64LE(32)),
    program.readUInt16LE(54),
    program.readUInt16LE(56),
  ];
  const interpreter = 3;
  return Array.from({ length: count }, (_, index) => program.readUInt32LE(start + index * size)).every(
    (type) => type !== interpreter,
  );
};

const busyboxPath = ['/bin/busybox', '/usr/bin/busybox'].find((path) => existsSync(path) && isStatic(path));

const has = (program: string): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;

/** The reason why no daemon can be started here, if any. */
export const noDocker: string | undefined =
  process.platform !== 'linux' || process.getuid?.() !== 0
    ? 'a Docker daemon needs Linux and root'
    : !has('dockerd') || !has('docker')
      ? 'docker.io is not installed'
      : busyboxPath === undefined
        ? 'busybox-static is not installed'
        : undefined;

/** Starts a daemon without a network and imports the image. */
export const startDockerDaemon = async (): Promise<DockerDaemon> => {
  const folder = mkdtempSync(join(tmpdir(), 'h-dockerd-'));
  const host = `unix://${folder}/docker.sock`;
  const log = join(folder, 'log');
  const daemon = spawn(
    'dockerd',
    [
      '--bridge=none',
      '--iptables=false',
      '--ip-masq=false',
      '--default-ulimit',
      'nofile=1024:1024',
      '--host',
      host,
      '--data-root',
      join(folder, 'data'),
      '--exec-root',
      join(folder, 'exec'),
      '--pidfile',
      join(folder, 'pid'),
    ],
    { stdio: ['ignore', openSync(log, 'w'), openSync(log, 'a')] },
  );
  const docker = (...args: string[]): string =>
    execFileSync('docker', args, { encoding: 'utf8', env: { ...process.env, DOCKER_HOST: host } });
  const stop = async (): Promise<void> => {
    if (daemon.exitCode === null && daemon.kill('SIGTERM')) await once(daemon, 'exit');
    unmountBelow(folder);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await vi.waitFor(
      () => {
        if (daemon.exitCode !== null) throw new Error(`dockerd ended: ${readFileSync(log, 'utf8').slice(-2_000)}`);
        docker('version');
      },
      { timeout: 60_000, interval: 200 },
    );
    const image = 'h-workspace-test:1';
    importBusybox(image, host, join(folder, 'image'));
    return { host, image, docker, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** Removes the mount of its network namespace, which a daemon leaves. */
const unmountBelow = (folder: string): void => {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  for (const mount of mounts) if (mount.startsWith(`${folder}/`)) execFileSync('umount', [mount]);
};

const importBusybox = (image: string, host: string, rootfs: string): void => {
  for (const name of ['bin', 'etc', 'tmp']) mkdirSync(join(rootfs, name), { recursive: true });
  chmodSync(join(rootfs, 'tmp'), 0o1777);
  copyFileSync(busyboxPath ?? '', join(rootfs, 'bin/busybox'));
  chmodSync(join(rootfs, 'bin/busybox'), 0o755);
  const applets = execFileSync(join(rootfs, 'bin/busybox'), ['--list'], { encoding: 'utf8' }).split('\n');
  for (const applet of applets) {
    if (applet !== '' && applet !== 'busybox') symlinkSync('busybox', join(rootfs, 'bin', applet));
  }
  const tar = execFileSync('tar', ['-C', rootfs, '-c', '.'], { maxBuffer: 64 * 1024 ** 2 });
  execFileSync('docker', ['import', '-', image], {
    input: tar,
    env: { ...process.env, DOCKER_HOST: host },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
};
