import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { temporaryHome } from './backend.js';

/** The parts of `/etc` that programs need; without password hashes, keys and service accounts. */
const settings = [
  'alternatives',
  'bash.bashrc',
  'bash_completion.d',
  'ca-certificates',
  'ca-certificates.conf',
  'crypto-policies',
  'debian_version',
  'environment',
  'fonts',
  'gitattributes',
  'gitconfig',
  'group',
  'host.conf',
  'hosts',
  'inputrc',
  'java',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'locale.alias',
  'locale.conf',
  'localtime',
  'login.defs',
  'magic',
  'mailcap',
  'manpath.config',
  'mime.types',
  'nanorc',
  'networks',
  'nsswitch.conf',
  'os-release',
  'passwd',
  'perl',
  'pki',
  'profile',
  'profile.d',
  'protocols',
  'python3',
  'redhat-release',
  'rpc',
  'services',
  'shells',
  'skel',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
  'vimrc',
  'xattr.conf',
  'xdg',
] as const;

/** The folders of programs and libraries; on many systems most of these are links into `/usr`. */
const programs = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/nix/store',
  '/run/current-system',
] as const;

/** What determines the arguments of `bwrap`. */
export interface Isolation {
  readonly root: string;
  readonly cwd: string;
  readonly network: boolean;
  readonly readOnly: boolean;
  readonly readOnlyPaths: readonly string[];
  /** Arguments that mount devices over those of the machine. */
  readonly deviceMounts: readonly string[];
}

/**
 * Returns the arguments of `bwrap`, without the command.
 *
 * Commands see the programs of the system (read-only), an empty `/tmp` and home folder, and the workspace. They have no
 * capabilities and cannot change settings of the kernel, even as root; they see no processes, no shared memory and,
 * unless permitted, no network of this machine; and they end with `bwrap`. The environment is inherited from `bwrap`, so
 * that its arguments contain no value.
 */
export const bubblewrapArguments = ({
  root,
  cwd,
  network,
  readOnly,
  readOnlyPaths,
  deviceMounts,
}: Isolation): readonly string[] => [
  '--die-with-parent',
  // A process group without bwrap: a signal of the supervisor to the group would end bwrap first, and everything with
  // it.
  '--new-session',
  '--unshare-all',
  ...(network ? ['--share-net'] : []),
  '--cap-drop',
  'ALL',
  ...programs.flatMap(mountProgram),
  ...settings.flatMap((name) => readOnlyMount(`/etc/${name}`)),
  ...(network ? readOnlyMount('/etc/resolv.conf') : []),
  '--proc',
  '/proc',
  ...(process.getuid?.() === 0 ? kernelSettings.flatMap(readOnlyMount) : []),
  '--dev',
  '/dev',
  ...deviceMounts,
  '--tmpfs',
  '/tmp',
  '--dir',
  homeBeside(root),
  ...readOnlyPaths.flatMap(readOnlyMount),
  readOnly ? '--ro-bind' : '--bind',
  root,
  root,
  '--chdir',
  cwd,
  '--',
];

/** The home folder of commands; outside of `/tmp` if the workspace replaces that. */
export const homeBeside = (root: string): string => (root === '/tmp' ? '/home/agent' : temporaryHome);

/**
 * Settings of the kernel that root may write without a capability. `/proc/sys/kernel/core_pattern`, for example, names a
 * program that the kernel runs outside of all namespaces. `bwrap` itself protects `/proc/bus` and `/proc/irq`.
 */
const kernelSettings = ['/proc/acpi', '/proc/fs', '/proc/scsi', '/proc/sys', '/proc/sysrq-trigger'] as const;

/** `bwrap` cannot mount over a link: the link is recreated, or its target is mounted. */
const mountProgram = (path: string): readonly string[] =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    ? ['--symlink', readlinkSync(path), path]
    : readOnlyMount(path);

const readOnlyMount = (path: string): readonly string[] => {
  try {
    return ['--ro-bind', realpathSync(path), path];
  } catch {
    return []; // The path does not exist on this machine.
  }
};
