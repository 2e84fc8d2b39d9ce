import type { GitRunner } from './runner.js';

/** Author and committer of a commit. */
export interface GitIdentity {
  readonly name: string;
  readonly email: string;
}

/** Used if no identity is configured: recognizable, and not a real address. */
const fallbackIdentity: GitIdentity = { name: 'agent', email: 'agent@localhost' };

/**
 * Returns author and committer as environment variables: the given identity, or the one that the user has configured,
 * or {@link fallbackIdentity}.
 *
 * @param run must read the settings of the user
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
