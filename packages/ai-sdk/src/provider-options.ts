import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { CacheMark, JSONObject, ProviderOptions } from '@h/turn';

/** The member that carries options to the provider; none where there are none. */
export const optionsMember = (options: ProviderOptions | undefined): { providerOptions?: SharedV4ProviderOptions } =>
  options === undefined ? {} : { providerOptions: options };

/** Both options in one; what the later one says about a member of a provider wins. */
export const mergeProviderOptions = (
  earlier: ProviderOptions,
  later: ProviderOptions | undefined,
): SharedV4ProviderOptions => {
  const merged: Record<string, JSONObject> = { ...earlier };
  for (const [provider, options] of Object.entries(later ?? {})) merged[provider] = { ...merged[provider], ...options };
  return merged;
};

/**
 * A cache mark in the words of the providers that know explicit ones.
 *
 * Anthropic's (which Vertex, Bedrock's Anthropic endpoint and OpenRouter read too) and Bedrock's own. Others find
 * options for somebody else and ignore them; they cache prefixes by themselves.
 */
export const cacheOptions = ({ ttl }: CacheMark): ProviderOptions => ({
  anthropic: { cacheControl: { type: 'ephemeral', ...(ttl && { ttl }) } },
  bedrock: { cachePoint: { type: 'default', ...(ttl && { ttl }) } },
});
