/** Common names of Node's platforms. */
const aliases: Readonly<Record<string, string>> = {
  macos: 'darwin',
  mac: 'darwin',
  osx: 'darwin',
  windows: 'win32',
  win: 'win32',
  win64: 'win32',
};

/** Converts platform names to those of Node. */
export const platformNames = (names: readonly string[]): readonly string[] =>
  names
    .map((name) => name.trim().toLowerCase())
    .flatMap((name) => (name === '' ? [] : [Object.hasOwn(aliases, name) ? (aliases[name] as string) : name]));

/** Returns whether the list contains the platform. An empty list matches no platform. */
export const isForPlatform = (platforms: readonly string[], platform: string): boolean =>
  platforms.includes(platform) || platforms.includes('all');
