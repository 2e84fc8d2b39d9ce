import { resolvePath } from './resolve-path.js';
import { unknownText } from '../words/field.js';

/**
 * The role of a path on a user's machine.
 *
 * | zone | contains |
 * |---|---|
 * | `root` | `/` and its direct entries |
 * | `system` | folders of the operating system and their direct entries |
 * | `system-file` | entries further below those |
 * | `home` | a home folder itself |
 * | `secret` | keys and credentials |
 * | `startup` | files that shells, cron and git run automatically, and the histories of shells |
 * | `device` | disks and partitions |
 * | `above` | a folder that contains the project |
 * | `project` | the project folder itself, or everything in it |
 * | `git` | the history of the project |
 * | `inside` | an entry of the project |
 * | `scratch` | temporary files and caches |
 * | `outside` | any other path |
 * | `unknown` | a path that is unknown until the line runs |
 * | `nowhere` | `/dev/null` and similar |
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
  /** The folder of the project. */
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

/** Nested folders of the operating system. */
const deepSystem: ReadonlySet<string> = new Set([
  ...['bin', 'sbin', 'lib', 'lib64', 'local', 'local/bin', 'share', 'include', 'libexec'].map((name) => `/usr/${name}`),
  ...['lib', 'log', 'spool', 'run', 'www', 'db'].map((name) => `/var/${name}`),
  '/private/etc',
  '/private/var',
  '/System/Library',
]);

/** Folders that contain files of users, not of the system. */
const ofPeople = /^\/(?:home|Users|mnt|media|srv|opt|Volumes|root)(?:\/|$)/;

/** Folders with temporary content. */
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

/** Caches of programs, relative to a home folder. */
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

/** Keys and credentials, relative to a home folder. */
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
  '/Library/Application Support/Google/Chrome',
  '/.config/google-chrome',
  '/.config/chromium',
  '/.mozilla',
  '/.local/share/keyrings',
  '/.config/doctl',
  '/.config/heroku',
  '/.config/containers/auth.json',
  '/.config/stripe',
  '/.cargo/credentials',
  '/.cargo/credentials.toml',
  '/.gem/credentials',
  '/.terraform.d/credentials.tfrc.json',
  '/.databrickscfg',
  '/.config/hub',
  '/.m2/settings.xml',
  '/.fly',
  '/.vault-token',
];

/**
 * Files that shells, git and the desktop run automatically, and the histories of shells, relative to a home folder.
 */
const startups = [
  '/.bash_history',
  '/.zsh_history',
  '/.local/share/fish/fish_history',
  '/.python_history',
  '/.psql_history',
  '/.bashrc',
  '/.bash_profile',
  '/.bash_login',
  '/.bash_logout',
  '/.profile',
  '/.zshrc',
  '/.zshenv',
  '/.zprofile',
  '/.zlogin',
  '/.bash_aliases',
  '/.xinitrc',
  '/.xprofile',
  '/.pam_environment',
  '/.config/environment.d',
  '/.kshrc',
  '/.config/fish',
  '/.config/autostart',
  '/.config/systemd',
  '/.gitconfig',
  '/.config/git',
  '/.vimrc',
  '/Library/LaunchAgents',
  '/.claude/settings.json',
  '/.codex/config.toml',
  '/.cursor/mcp.json',
];

const systemStartup =
  /^\/(?:etc\/(?:cron|sudoers|profile|rc\.local|init\.d|systemd|ld\.so|pam\.d|passwd|shadow|ssh)|var\/spool\/cron|Library\/Launch|usr\/lib\/systemd)/;

const harmlessDevices =
  /^\/dev\/(?:null|zero|stdin|stdout|stderr|tty[\w.]*|video\d+|snd\/.*|input\/.*|i2c-.*|spidev.*|dri\/.*|kvm|fuse|net\/.*|hidraw\d+|usb\/.*|cu\..*|fd\/.*|full|u?random|shm\/.*|pts\/.*)$/;

/** Returns the zone of a path without accessing the file system. A wildcard counts as everything that it may match. */
export const zoneOf = (path: string, cwd: string, place: Place): Zone => {
  // No program finds a file without a name, and a connection of Bash is none.
  if (path === '' || /^\/dev\/(?:tcp|udp)\//.test(path)) return 'nowhere';
  const relative = path.replace(/^\.\//, '');
  if (cwd.startsWith(unknownText) && !path.startsWith('/')) return zoneSomewhere(relative);
  const { folder, rest, segment } = splitPattern(resolvePath(path, cwd));
  if (folder.startsWith(unknownText) || (folder === '/' && rest === 'unknown')) return 'unknown';
  const zone = zoneOfFolder(folder, place);
  if (rest === 'none' || rest === 'all') return zone;
  if ((zone === 'project' || zone === 'inside') && segment.startsWith('.') && fits(segment, '.git')) return 'git';
  return rest === 'some' && zoneOfFolder(`${folder}/some`, place) === 'scratch' ? 'scratch' : belowZone(zone, rest);
};

/** Treats a named entry of an unknown folder like an entry of the project. */
const zoneSomewhere = (path: string): Zone => {
  const [first = ''] = path.split('/');
  return first === '' || first === '.' || /^\.\.$|^[*?.{]*\*|\u{FFFF}/u.test(first) || path.includes('..')
    ? 'unknown'
    : 'inside';
};

type Rest = 'none' | 'all' | 'some' | 'unknown';

/** Splits a path before its first part with a wildcard or an unknown text. */
const splitPattern = (path: string): { readonly folder: string; readonly rest: Rest; readonly segment: string } => {
  const segments = path.split('/');
  const index = segments.findIndex((segment) => /[*?[]|\u{FFFF}/u.test(segment));
  if (index === -1) return { folder: path, rest: 'none', segment: '' };
  const folder = segments.slice(0, index).join('/');
  const segment = segments[index] ?? '';
  if (segment === unknownText) {
    return { folder: index === 0 ? unknownText : folder === '' ? '/' : folder, rest: 'unknown', segment };
  }
  if (segment.startsWith(unknownText) && index === 0) return { folder: unknownText, rest: 'unknown', segment };
  const isLast = segments.slice(index + 1).every((later) => /^\**$/.test(later));
  return {
    folder: folder === '' ? '/' : folder,
    rest: isLast && /^(?:\.?\*+|\.\[[!^].*\]\*|\.\?\?\*|\?\*)$/.test(segment) ? 'all' : 'some',
    segment,
  };
};

/** Maximum length of a pattern of file names that is compared with names. */
const maxPattern = 40;

/** Returns whether a short pattern of file names fits a name; a bracket counts as any character. */
export const fits = (pattern: string, name: string): boolean => {
  if (pattern.length > maxPattern) return false;
  const parts = pattern.match(/\[[^\]]*\]|[^[]/g) ?? [];
  let places = new Set([0]);
  for (const part of parts) {
    const next = new Set<number>();
    for (const place of places) {
      if (part === '*') for (let end = place; end <= name.length; end += 1) next.add(end);
      else if (place < name.length && (part === '?' || part.length > 1 || part === name[place])) next.add(place + 1);
    }
    places = next;
  }
  return places.has(name.length);
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
  if (inHome === '/.ssh/known_hosts') return 'outside';
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
  // A stale lock may be deleted.
  path.endsWith('.lock') ? 'inside' : /\.git\/hooks(?:\/|$)/.test(path) ? 'startup' : 'git';

const isSystem = (path: string): boolean =>
  deepSystem.has(path) || (path.lastIndexOf('/') === 0 && systemFolders.has(path.slice(1)));

/** Returns the part of a path below a folder; `undefined` if the path is not below it. */
const below = (path: string, folder: string): string | undefined =>
  folder !== '/' && path.startsWith(`${folder}/`) ? path.slice(folder.length) : undefined;

const isScratch = (path: string): boolean =>
  path === '/var/lib/apt/lists' || scratch.some((folder) => path.startsWith(`${folder}/`));

/** Returns whether a path is one of these folders, or below one. */
const isIn = (path: string, folders: readonly string[]): boolean =>
  folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
