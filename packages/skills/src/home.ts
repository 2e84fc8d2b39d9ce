/** Path conventions. */
export interface PathStyle {
  /** @defaultValue `process.platform` */
  readonly platform?: string | undefined;
}

/**
 * Replaces the home folder in a path by `~`, which saves tokens and keeps the user name out of prompts.
 *
 * Matches whole path segments: with the home `/home/al`, `/home/al/x` becomes `~/x` and `/home/alice/x` is unchanged. A
 * home that is the root has no effect.
 */
export const shortenHome = (path: string, home: string, { platform = process.platform }: PathStyle = {}): string => {
  const isWindows = platform === 'win32';
  const comparable = (text: string): string => (isWindows ? text.replaceAll('\\', '/').toLowerCase() : text);
  const base = trimmed(home, isWindows);
  if (base === '' || (isWindows && /^[A-Za-z]:$/.test(base))) return path;
  if (!comparable(path).startsWith(comparable(base))) return path;
  const rest = path.slice(base.length);
  const isBoundary = rest === '' || rest.startsWith('/') || (isWindows && rest.startsWith('\\'));
  return isBoundary ? `~${rest}` : path;
};

/** Replaces a leading `~` by the home folder. */
export const expandHome = (path: string, home: string, { platform = process.platform }: PathStyle = {}): string => {
  if (path === '~') return home;
  const isHome = path.startsWith('~/') || (platform === 'win32' && path.startsWith('~\\'));
  return isHome ? `${trimmed(home, platform === 'win32')}${path.slice(1)}` : path;
};

const trimmed = (path: string, isWindows: boolean): string => {
  const separators = isWindows ? '/\\' : '/';
  let end = path.length;
  while (end > 0 && separators.includes(path.charAt(end - 1))) end -= 1;
  return path.slice(0, end);
};
