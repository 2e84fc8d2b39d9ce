import { ConfigError, type ProxyConfig } from '../config.js';
import type { Provider } from '../calls/refusal.js';

/** A key of a provider. */
export interface ProviderKey {
  readonly provider: Provider;
  readonly id: string;
  readonly value: string;
}

/**
 * Reads the keys of the providers from the environment.
 *
 * @throws ConfigError if a variable is not set
 */
export const readKeys = (
  config: ProxyConfig,
  env: Readonly<Record<string, string | undefined>>,
): readonly ProviderKey[] =>
  (['anthropic', 'openai'] as const).flatMap((provider) =>
    config[provider].keys.map(({ id, env: variable }) => {
      const value = env[variable]?.trim();
      if (value === undefined || value === '') {
        throw new ConfigError(`The environment variable ${variable} of the key "${id}" (${provider}.keys) is not set.`);
      }
      return { provider, id, value };
    }),
  );
