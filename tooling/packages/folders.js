/** Finds the packages of a checkout. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {{ folder: string, isProgram: boolean }} PackageFolder Relative to the checkout, with slashes. */

/**
 * Returns the folders of all packages, and of the apps that are published.
 *
 * @type {(checkout: string) => PackageFolder[]}
 */
export const packageFolders = (checkout) =>
  ['packages', 'apps'].flatMap((group) =>
    readdirSync(join(checkout, group))
      .toSorted()
      .flatMap((name) => {
        const folder = `${group}/${name}`;
        const path = join(checkout, folder, 'package.json');
        if (!existsSync(path)) return [];
        const isProgram = group === 'apps';
        return isProgram && JSON.parse(readFileSync(path, 'utf8')).private === true ? [] : [{ folder, isProgram }];
      }),
  );

/** Returns the options of pnpm that select all published packages. @type {(checkout: string) => string[]} */
export const packageFilters = (checkout) =>
  packageFolders(checkout).flatMap(({ folder }) => ['--filter', `./${folder}`]);
