import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { temporaryHome } from './backend.js';

/** What of `/etc` a program needs to run; not the password hashes, keys and service accounts that also live there. */
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

/** Where programs and libraries are; on many systems most of these are links into `/usr`. */
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

/** What decides about the arguments of `bwrap`. */
export interface Isolation {
  readonly root: string;
  readonly cwd: string;
  readonly network: boolean;
  readonly readOnly: boolean;
  readonly readOnlyPaths: readonly string[];
}

/**
 * The arguments of `bwrap`, without the command.
 *
 * Commands see the system's programs (read-only), an empty `/tmp` and home, and the workspace. They have no capability,
 * also as root; no process, no shared memory and, unless allowed, no network of this machine; and die with `bwrap`.
 * The environment is inherited from `bwrap`, so that no value is among its arguments.
 */
export const bubblewrapArguments = ({ root, cwd, network, readOnly, readOnlyPaths }: Isolation): readonly string[] => [
  '--die-with-parent',
  // A process group without bwrap in it: what the supervisor tells the group would end bwrap first, and all with it.
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
  '--dev',
  '/dev',
  '--tmpfs',
  '/tmp',
  '--dir',
  temporaryHome,
  ...readOnlyPaths.flatMap(readOnlyMount),
  readOnly ? '--ro-bind' : '--bind',
  root,
  root,
  '--chdir',
  cwd,
  '--',
];

/** `bwrap` cannot mount over a link: a link stays one, or what it leads to is mounted in its place. */
const mountProgram = (path: string): readonly string[] =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    ? ['--symlink', readlinkSync(path), path]
    : readOnlyMount(path);

const readOnlyMount = (path: string): readonly string[] => {
  try {
    return ['--ro-bind', realpathSync(path), path];
  } catch {
    return []; // It does not exist here.
  }
};
