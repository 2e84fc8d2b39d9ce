import type { CredentialProfile } from '@h/failover';

type Environment = Readonly<Record<string, string | undefined>>;

const maxKeys = 9;

/** The variables that are set, including the numbered ones: `OPENAI_API_KEY`, `OPENAI_API_KEY_2` … */
export const keyNames = (names: readonly string[], environment: Environment): readonly string[] =>
  names
    .flatMap((name) => [name, ...Array.from({ length: maxKeys - 1 }, (_, index) => `${name}_${index + 2}`)])
    .filter((name) => (environment[name] ?? '').trim() !== '');

/** A credential for each key of a provider. Its id is shown to the user, so it names the variable, not the key. */
export const profilesOf = (
  provider: string,
  names: readonly string[],
  environment: Environment,
): readonly CredentialProfile[] =>
  keyNames(names, environment).map((name) => ({ id: `${provider}:${name}`, provider, key: { env: name } }));

/** The values of keys and passwords in the environment, for redaction. */
export const secretsIn = (environment: Environment): readonly string[] =>
  Object.entries(environment).flatMap(([name, value = '']) =>
    /_(?:API_KEY|TOKEN|SECRET|PASSWORD)(?:_\d+)?$/.test(name) && value.length >= 6 ? [value] : [],
  );
