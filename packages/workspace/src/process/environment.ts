import { InvalidInputError } from '@h/turn';

/** Variables by name. */
export type Environment = Readonly<Record<string, string>>;

/** Variables of this process that every command on this machine gets: none of them is a secret by convention. */
const inherited: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'TMP',
  'TEMP',
]);

const isInherited = (name: string): boolean => inherited.has(name) || name.startsWith('LC_');

/** Makes programs ask nothing, page nothing, open no editor and draw nothing: nobody is there to answer. */
export const nonInteractive: Environment = {
  CI: '1',
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  EDITOR: 'true',
  VISUAL: 'true',
  GIT_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  GCM_INTERACTIVE: 'never',
  DEBIAN_FRONTEND: 'noninteractive',
  PIP_NO_INPUT: '1',
  PYTHONUNBUFFERED: '1',
};

/**
 * What a command on this machine gets of an environment: the harmless variables, and those that are named.
 *
 * @param pass Names of further variables to hand on. Those that are not set are left out.
 */
export const inheritedEnvironment = (source: NodeJS.ProcessEnv, pass: readonly string[] = []): Environment => {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    if (value !== undefined && (isInherited(name) || pass.includes(name))) result[name] = value;
  }
  return result;
};

const namePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The same variables, checked.
 *
 * @throws InvalidInputError for a name that no shell could use or a value that no process could get. The value itself,
 * which may be a secret, is not in the message.
 */
export const checkedEnvironment = (environment: Environment): Environment => {
  for (const [name, value] of Object.entries(environment)) {
    if (!namePattern.test(name)) {
      throw new InvalidInputError(
        `environment: ${JSON.stringify(name)} is no name of a variable; use letters, digits and "_", with no digit first.`,
      );
    }
    if (typeof value !== 'string' || value.includes('\0')) {
      throw new InvalidInputError(`environment: the value of ${name} has to be text without NUL characters.`);
    }
  }
  return environment;
};
