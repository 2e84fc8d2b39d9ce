import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { StrictLine } from './strict-line.js';
import { repositoryRoot } from './strict-reader.js';

/**
 * Files with which a project chooses what a program runs, even for `--version`, and the text that does so: the path of
 * Yarn, the folder of a Rust toolchain, the git of npm, options of the Java machine, the folder of an SDK.
 */
const choices: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  yarn: { '.yarnrc': /yarn-?path/i, '.yarnrc.yml': /yarn-?path/i },
  ...Object.fromEntries(
    ['cargo', 'rustc', 'rustup'].map((name) => [name, { 'rust-toolchain': /path/, 'rust-toolchain.toml': /path/ }]),
  ),
  // npm runs this program for packages in git repositories.
  npm: { '.npmrc': /^\s*["']?git["']?\s*=/m },
  mvn: { '.mvn/jvm.config': /\S/ },
  dotnet: { 'global.json': /paths/ },
};

/** Larger than the configuration of any project. */
const maxBytes = 65_536;

/** Returns whether a file contains a text. One that is no short, readable file may contain it. */
const mayContain = (path: string, text: RegExp): boolean => {
  if (!existsSync(path)) return false;
  try {
    const file = statSync(path);
    return !file.isFile() || file.size > maxBytes || text.test(readFileSync(path, 'utf8'));
  } catch {
    return true;
  }
};

/** Returns the nearest folder, from this one upwards, that fulfils a condition. */
const nearest = (folder: string, condition: (folder: string) => boolean): string | undefined => {
  for (let at = folder; ; at = dirname(at)) {
    if (condition(at)) return at;
    if (at === dirname(at)) return undefined;
  }
};

/** Returns the path behind links, as the system resolves it: `link/..` is the folder above the target. */
const withoutLinks = (path: string): string => {
  if (!existsSync(path)) return resolve(path);
  try {
    return realpathSync.native(path);
  } catch {
    return resolve(path);
  }
};

/** Returns the repository that git would find in a folder. */
const repositoryOf = (folder: string): string | undefined =>
  nearest(withoutLinks(folder), (at) => {
    const isBare = existsSync(`${at}/HEAD`) && existsSync(`${at}/objects`) && existsSync(`${at}/refs`);
    return isBare || existsSync(`${at}/.git`);
  });

/** Returns why a program of the line would run what a project names; `undefined` if none would. */
export const whyProjectRuns = (
  { commands, folders }: StrictLine,
  { cwd, allowWrite }: { readonly cwd: string; readonly allowWrite: boolean },
): string | undefined => {
  // A list that allows a program allows what it does in this project.
  const names = [...new Set(commands.map(({ name }) => name))].filter(
    (name) => name === 'git' || (!allowWrite && Object.hasOwn(choices, name)),
  );
  if (names.length === 0) return undefined;
  const own = repositoryOf(cwd);
  const reached = [cwd];
  for (const folder of folders) {
    if (folder === undefined) return `The command runs ${names[0]} in a folder that is unknown until it runs.`;
    // Each `cd` may have failed, so its folder is resolved from here and from the result of the previous one. `cd` removes
    // `..` before it follows links; `git -C` does not.
    const bases = isAbsolute(folder) ? ['/'] : [cwd, reached.at(-1) ?? cwd];
    const next =
      folder === repositoryRoot
        ? [own ?? cwd]
        : bases.flatMap((base) => [resolve(base, folder), withoutLinks(`${base}/${folder}`)]);
    if (names.includes('git') && next.some((one) => repositoryOf(one) !== own)) {
      return `The command calls git in ${folder}, which belongs to another repository, whose configuration may run programs.`;
    }
    reached.push(...next);
  }
  for (const name of names) {
    for (const [file, text] of Object.entries(choices[name] ?? {})) {
      const chooses = (at: string): boolean => mayContain(join(at, file), text);
      const place = reached.map((folder) => nearest(folder, chooses)).find((found) => found !== undefined);
      if (place !== undefined) return `The command runs ${name}, which runs what ${join(place, file)} names.`;
    }
  }
  return undefined;
};
