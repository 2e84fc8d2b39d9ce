/** Names of variables that usually hold what a hook has no business with. */
const secret =
  /(?:^|_)(?:API_?KEYS?|ACCESS_?KEYS?|PRIVATE_?KEYS?|SECRETS?|TOKENS?|PASSWORDS?|PASSWD|PWD_?HASH|CREDENTIALS?|PASSPHRASE|COOKIES?|AUTH|DSN|DATABASE_URL|CONNECTION_STRING)(?:_|$)/i;
const keys = /(?:_KEY|_KEY_ID|_PAT|_PASS)$/i;

/** Variables that make a program load other code. */
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

/**
 * The environment without secrets and without variables that inject code, but with those that are to be kept.
 *
 * @example
 * ```ts
 * cleanEnvironment(process.env, ['GITHUB_TOKEN']);
 * ```
 */
export const cleanEnvironment = (environment: NodeJS.ProcessEnv, keep: readonly string[] = []): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) =>
        keep.includes(name) ||
        !(secret.test(name) || keys.test(name) || injecting.has(name) || name.startsWith('BASH_FUNC_')),
    ),
  );
