/** What people call Node's platforms. */
const aliases: Readonly<Record<string, string>> = {
  macos: 'darwin',
  mac: 'darwin',
  osx: 'darwin',
  windows: 'win32',
  win: 'win32',
  win64: 'win32',
};

/** The names of platforms as Node has them. */
export const platformNames = (names: readonly string[]): readonly string[] =>
  names
    .map((name) => name.trim().toLowerCase())
    .flatMap((name) => (name === '' ? [] : [Object.hasOwn(aliases, name) ? (aliases[name] as string) : name]));

/** Whether something that works on these platforms works on this one. An empty list works nowhere. */
export const isForPlatform = (platforms: readonly string[], platform: string): boolean =>
  platforms.includes(platform) || platforms.includes('all');
