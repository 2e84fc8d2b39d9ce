import { readFileSync } from 'node:fs';

/**
 * Returns the version of the package that a module belongs to: that of the nearest `package.json` with a version, or
 * `unknown` without one, as for a bundle outside of any package.
 *
 * @param module the `import.meta.url` of the module
 *
 * @example
 * ```ts
 * console.log(packageVersion(import.meta.url));
 * ```
 */
export const packageVersion = (module: string): string => {
  let folder = new URL('.', module);
  for (;;) {
    const version = versionIn(new URL('package.json', folder));
    if (version !== undefined) return version;
    const parent = new URL('..', folder);
    if (parent.href === folder.href) return 'unknown';
    folder = parent;
  }
};

const versionIn = (file: URL): string | undefined => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  const { version } = JSON.parse(text) as { readonly version?: unknown };
  return typeof version === 'string' ? version : undefined;
};
