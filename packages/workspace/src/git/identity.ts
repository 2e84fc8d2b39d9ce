import type { GitRunner } from './runner.js';

/** Who a commit is by. */
export interface GitIdentity {
  readonly name: string;
  readonly email: string;
}

/** Used where nobody is configured: recognisable, and no address of anybody. */
export const fallbackIdentity: GitIdentity = { name: 'agent', email: 'agent@localhost' };

/**
 * The variables that say who a commit is by: the given identity, else the one that the user has configured, else
 * {@link fallbackIdentity}.
 *
 * @param run Reads the user's own settings too, which only tells names here.
 */
export const identityVariables = async (
  run: GitRunner,
  given: GitIdentity | undefined,
): Promise<Readonly<Record<string, string>>> => {
  const { name, email } = given ?? (await configured(run)) ?? fallbackIdentity;
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
};

const configured = async (run: GitRunner): Promise<GitIdentity | undefined> => {
  const [name, email] = await Promise.all(
    (['name', 'email'] as const).map(async (key) => {
      const variable = process.env[`GIT_AUTHOR_${key.toUpperCase()}`];
      if (variable !== undefined && variable.trim() !== '') return variable;
      const { exitCode, stdout } = await run(['config', '--get', `user.${key}`]);
      return exitCode === 0 ? stdout.toString().trim() : '';
    }),
  );
  return name === undefined || email === undefined || name === '' || email === '' ? undefined : { name, email };
};
