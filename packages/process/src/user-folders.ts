import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, parse } from 'node:path';

/** The folders of the XDG Base Directory Specification that programs write to, with their default below the home folder. */
const defaults = { XDG_CONFIG_HOME: '.config', XDG_STATE_HOME: '.local/state' } as const;

/**
 * Returns the home folder of the user: `HOME`, otherwise the one that the system names.
 *
 * The result is always absolute. With an empty or relative `HOME`, the folder that the program was started in would be
 * the home folder: a project could provide the settings of the user, and the state of programs would be written to it.
 */
export const homeFolder = (environment: NodeJS.ProcessEnv): string =>
  absolute(environment['HOME']) ?? absolute(homeOfSystem()) ?? parse(process.cwd()).root;

/** Returns a folder of the user by the XDG Base Directory Specification, which ignores relative paths. */
export const userFolder = (name: keyof typeof defaults, environment: NodeJS.ProcessEnv): string =>
  absolute(environment[name]) ?? join(homeFolder(environment), defaults[name]);

const absolute = (path: string | undefined): string | undefined =>
  path !== undefined && isAbsolute(path) ? path : undefined;

/** `homedir()` returns an empty `HOME` as it is. Both functions throw for a user without an entry, as in containers. */
const homeOfSystem = (): string | undefined => {
  try {
    return absolute(homedir()) ?? userInfo().homedir;
  } catch {
    return undefined;
  }
};
