import { InvalidOptionError, showValue } from '@h/options';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string>>;

/** Variables that programs need and that contain no secret by convention. */
const harmless: ReadonlySet<string> = new Set([
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
  // Windows:
  'Path',
  'SystemRoot',
  'SYSTEMROOT',
  'ComSpec',
  'PATHEXT',
  'USERPROFILE',
]);

/** Names of variables that usually contain a secret. */
const secret =
  /(?:^|_)(?:API_?KEYS?|ACCESS_?KEYS?|PRIVATE_?KEYS?|SECRETS?|TOKENS?|PASSWORDS?|PASSWD|PWD_?HASH|CREDENTIALS?|PASSPHRASE|COOKIES?|AUTH|DSN|DATABASE_URL|CONNECTION_STRING)(?:_|$)/i;
const secretEnding = /(?:_KEY|_KEY_ID|_PAT|_PASS)$/i;

/** Variables that make a program load further code. */
const injecting: ReadonlySet<string> = new Set([
  'LD_PRELOAD',
  'LD_LIBRARY_PATH',
  'LD_AUDIT',
  'DYLD_INSERT_LIBRARIES',
  'DYLD_LIBRARY_PATH',
  'NODE_OPTIONS',
  'BASH_ENV',
  'ENV',
  'PYTHONSTARTUP',
  'PERL5OPT',
  'RUBYOPT',
  'PROMPT_COMMAND',
]);

/** Stops programs from prompting, paging, opening an editor and drawing: no terminal is attached. */
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
 * Returns the few variables that programs need, and none that could contain a secret: for commands that a model wrote.
 *
 * @param pass names of further variables to include if they are set
 */
export const minimalEnvironment = (source: NodeJS.ProcessEnv, pass: readonly string[] = []): Environment => {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    const isIncluded = harmless.has(name) || name.startsWith('LC_') || pass.includes(name);
    if (value !== undefined && isIncluded) result[name] = value;
  }
  return result;
};

/**
 * Returns all variables but those whose name suggests a secret and those that inject code: for commands that a user
 * wrote.
 *
 * @param keep names of variables to include nevertheless
 *
 * @example
 * ```ts
 * withoutSecrets(process.env, ['GITHUB_TOKEN']);
 * ```
 */
export const withoutSecrets = (source: NodeJS.ProcessEnv, keep: readonly string[] = []): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(source).filter(([name]) => {
      const isRemoved =
        secret.test(name) || secretEnding.test(name) || injecting.has(name) || name.startsWith('BASH_FUNC_');
      return keep.includes(name) || !isRemoved;
    }),
  );

const namePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Returns the same variables, or throws if a process could not receive them. The message never shows a value.
 *
 * @param owner whose option it is, such as `createSandbox()`
 * @throws InvalidOptionError for a name that no shell accepts, or a value that is not a string without NUL characters
 */
export const checkEnvironment = (owner: string, environment: Environment): Environment => {
  const refuse = (name: string, problem: string): never => {
    const option = `environment.${name.slice(0, 100)}`;
    throw new InvalidOptionError({ owner, option, message: `${owner}: ${JSON.stringify(option)} ${problem}` });
  };
  if (typeof environment !== 'object' || environment === null || Array.isArray(environment)) {
    const message = `${owner}: "environment" must be an object of strings; received ${showValue(environment, 'secret')}.`;
    throw new InvalidOptionError({ owner, option: 'environment', message });
  }
  for (const [name, value] of Object.entries(environment)) {
    if (!namePattern.test(name)) {
      refuse(name, 'is not the name of a variable; use letters, digits and "_", and do not start with a digit.');
    }
    if (typeof value !== 'string' || value.includes('\0')) {
      refuse(name, 'must be a string without NUL characters; its value is not shown.');
    }
  }
  return environment;
};
