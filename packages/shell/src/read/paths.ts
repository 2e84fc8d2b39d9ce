import { resolvePath } from './resolve-path.js';
import { unknownText } from './field.js';

/**
 * What a path is to the person whose machine it is on.
 *
 * | zone | holds |
 * |---|---|
 * | `root` | `/` and what is directly in it |
 * | `system` | folders that the system is made of, and what is directly in them |
 * | `system-file` | what is below those |
 * | `home` | a home folder itself |
 * | `secret` | keys and credentials |
 * | `startup` | files that shells, cron and git run by themselves |
 * | `device` | disks and partitions |
 * | `above` | a folder that holds the project |
 * | `project` | the project folder itself, or all that is in it |
 * | `git` | the project's history |
 * | `inside` | something in the project |
 * | `scratch` | temporary files and caches |
 * | `outside` | anything else |
 * | `unknown` | only the running shell knows |
 * | `nowhere` | `/dev/null` and its like |
 */
export type Zone =
  | 'root'
  | 'system'
  | 'system-file'
  | 'home'
  | 'secret'
  | 'startup'
  | 'device'
  | 'above'
  | 'project'
  | 'git'
  | 'inside'
  | 'scratch'
  | 'outside'
  | 'unknown'
  | 'nowhere';

/** Where a line runs. */
export interface Place {
  /** The folder that the project is in. */
  readonly project: string;
  readonly home: string;
}

const systemFolders: ReadonlySet<string> = new Set([
  'bin',
  'boot',
  'dev',
  'etc',
  'home',
  'lib',
  'lib32',
  'lib64',
  'media',
  'mnt',
  'nix',
  'opt',
  'private',
  'proc',
  'root',
  'run',
  'sbin',
  'snap',
  'srv',
  'sys',
  'usr',
  'var',
  'Applications',
  'Library',
  'System',
  'Users',
  'Volumes',
  'Windows',
]);

/** Folders deeper down that the system is made of. */
const deepSystem: ReadonlySet<string> = new Set([
  ...['bin', 'sbin', 'lib', 'lib64', 'local', 'local/bin', 'share', 'include', 'libexec'].map((name) => `/usr/${name}`),
  ...['lib', 'log', 'spool', 'run', 'www', 'db'].map((name) => `/var/${name}`),
  '/private/etc',
  '/private/var',
  '/System/Library',
]);

/** Folders whose contents are files of people, not of the system. */
const ofPeople = /^\/(?:home|Users|mnt|media|srv|opt|Volumes|root)(?:\/|$)/;

/** Folders whose contents come and go. */
const scratch = [
  '/tmp',
  '/private/tmp',
  '/var/tmp',
  '/private/var/tmp',
  '/var/folders',
  '/private/var/folders',
  '/dev/shm',
  '/var/cache',
  '/var/lib/apt/lists',
  '/usr/share/doc',
  '/usr/share/man',
  '/usr/share/locale',
  '/root/.cache',
  '/root/.npm',
];

/** Below a home folder: what programs keep to be faster. */
const caches = [
  '/.cache',
  '/.npm',
  '/.bun/install/cache',
  '/.cargo/registry',
  '/.gradle/caches',
  '/.m2/repository',
  '/.pnpm-store',
  '/.yarn/cache',
  '/.nuget/packages',
  '/.local/share/pnpm/store',
  '/.local/share/Trash',
  '/Library/Caches',
  '/Library/Developer/Xcode/DerivedData',
  '/go/pkg/mod',
];

/** Below a home folder: keys and credentials. */
const secrets = [
  '/.ssh',
  '/.gnupg',
  '/.aws',
  '/.azure',
  '/.kube',
  '/.docker/config.json',
  '/.config/gcloud',
  '/.config/gh',
  '/.config/op',
  '/.config/rclone',
  '/.config/sops',
  '/.netrc',
  '/.npmrc',
  '/.pypirc',
  '/.pgpass',
  '/.git-credentials',
  '/.password-store',
  '/Library/Keychains',
];

/** Below a home folder: what shells, git and the desktop run by themselves. */
const startups = [
  '/.bashrc',
  '/.bash_profile',
  '/.bash_login',
  '/.bash_logout',
  '/.profile',
  '/.zshrc',
  '/.zshenv',
  '/.zprofile',
  '/.zlogin',
  '/.kshrc',
  '/.config/fish',
  '/.config/autostart',
  '/.config/systemd',
  '/.gitconfig',
  '/.config/git',
  '/.vimrc',
  '/Library/LaunchAgents',
];

const systemStartup =
  /^\/(?:etc\/(?:cron|sudoers|profile|rc\.local|init\.d|systemd|ld\.so|pam\.d|passwd|shadow|ssh)|var\/spool\/cron|Library\/Launch|usr\/lib\/systemd)/;

const harmlessDevices =
  /^\/dev\/(?:null|zero|stdin|stdout|stderr|tty\d*|fd\/.*|full|u?random|shm\/.*|pts\/.*|tcp\/.*|udp\/.*)$/;

/** The zone that a path is in, without looking at any file. Wildcards count as what they may reach. */
export const zoneOf = (path: string, cwd: string, place: Place): Zone => {
  const relative = path.replace(/^\.\//, '');
  if (cwd.startsWith(unknownText) && !path.startsWith('/')) return zoneSomewhere(relative);
  const { folder, rest } = splitPattern(resolvePath(path, cwd));
  if (folder.startsWith(unknownText) || (folder === '/' && rest === 'unknown')) return 'unknown';
  const zone = zoneOfFolder(folder, place);
  if (rest === 'none' || rest === 'all') return zone;
  return rest === 'some' && zoneOfFolder(`${folder}/some`, place) === 'scratch' ? 'scratch' : belowZone(zone, rest);
};

/** In a folder that is not known: something with a name is as good as something in the project. */
const zoneSomewhere = (path: string): Zone => {
  const [first = ''] = path.split('/');
  return first === '' || first === '.' || /^\.\.$|^[*?.{]*\*|\u{FFFF}/u.test(first) || path.includes('..')
    ? 'unknown'
    : 'inside';
};

type Rest = 'none' | 'all' | 'some' | 'unknown';

/** The folder before the first wildcard or unknown part of a path, and what comes then. */
const splitPattern = (path: string): { readonly folder: string; readonly rest: Rest } => {
  const segments = path.split('/');
  const index = segments.findIndex((segment) => /[*?[]|\u{FFFF}/u.test(segment));
  if (index === -1) return { folder: path, rest: 'none' };
  const folder = segments.slice(0, index).join('/');
  const segment = segments[index] ?? '';
  if (segment === unknownText) {
    return { folder: index === 0 ? unknownText : folder === '' ? '/' : folder, rest: 'unknown' };
  }
  if (segment.startsWith(unknownText) && index === 0) return { folder: unknownText, rest: 'unknown' };
  const isLast = segments.slice(index + 1).every((later) => /^\**$/.test(later));
  return {
    folder: folder === '' ? '/' : folder,
    rest: isLast && /^(?:\.?\*+|\.\[[!^].*\]\*|\.\?\?\*|\?\*)$/.test(segment) ? 'all' : 'some',
  };
};

const belowZone = (zone: Zone, rest: 'some' | 'unknown'): Zone => {
  switch (zone) {
    case 'root':
      return rest === 'some' ? 'system' : 'unknown';
    case 'system':
      return 'system-file';
    case 'project':
    case 'home':
    case 'above':
      return rest === 'unknown' ? 'unknown' : zone === 'project' ? 'inside' : 'outside';
    default:
      return zone;
  }
};

const zoneOfFolder = (path: string, { project, home }: Place): Zone => {
  if (path === '/') return 'root';
  if (harmlessDevices.test(path)) return 'nowhere';
  const inHome =
    below(path, home) ??
    /^\/(?:home|Users)\/[^/]+(\/.*)?$|^\/root(\/.*)?$/
      .exec(path)
      ?.slice(1)
      .find((part) => part !== undefined);
  if (inHome !== undefined && isIn(inHome, secrets)) return 'secret';
  if (inHome !== undefined && isIn(inHome, startups)) return 'startup';
  if (path === project) return 'project';
  if (below(project, path) !== undefined) return isSystem(path) ? 'system' : path === home ? 'home' : 'above';
  const inProject = below(path, project);
  if (inProject !== undefined) return /^\/(?:.*\/)?\.git(?:\/|$)/.test(inProject) ? gitZone(inProject) : 'inside';
  if (path === home || /^\/(?:home|Users)\/[^/]+$/.test(path)) return 'home';
  if (isScratch(path) || (inHome !== undefined && isIn(inHome, caches))) return 'scratch';
  if (path.startsWith('/dev/')) return 'device';
  if (systemStartup.test(path)) return 'startup';
  if (isSystem(path)) return 'system';
  const [, top = ''] = path.split('/');
  return systemFolders.has(top) && !ofPeople.test(path) ? 'system-file' : 'outside';
};

const gitZone = (path: string): Zone =>
  // A lock that a crash has left is to be deleted.
  path.endsWith('.lock') ? 'inside' : /\.git\/hooks(?:\/|$)/.test(path) ? 'startup' : 'git';

const isSystem = (path: string): boolean =>
  deepSystem.has(path) || (path.lastIndexOf('/') === 0 && systemFolders.has(path.slice(1)));

/** What comes behind a folder in a path; `undefined` if the path is not below it. */
const below = (path: string, folder: string): string | undefined =>
  folder !== '/' && path.startsWith(`${folder}/`) ? path.slice(folder.length) : undefined;

const isScratch = (path: string): boolean =>
  path === '/var/lib/apt/lists' || scratch.some((folder) => path.startsWith(`${folder}/`));

/** Whether a path is one of these, or below one. */
const isIn = (path: string, folders: readonly string[]): boolean =>
  folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
