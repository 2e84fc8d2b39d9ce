import { readFileSync } from 'node:fs';

/**
 * Returns the version of the package that a module belongs to: that of the nearest `package.json` with a version, or
 * `unknown` without one. Never throws. In a bundle, the module belongs to the package of the bundle.
 *
 * @param module - the `import.meta.url` of the module; `undefined` in a CommonJS bundle
 *
 * @example
 * ```ts
 * console.log(packageVersion(import.meta.url));
 * ```
 */
export const packageVersion = (module: string | undefined): string => {
  if (module === undefined) return 'unknown';
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
  try {
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version?: unknown };
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
};
