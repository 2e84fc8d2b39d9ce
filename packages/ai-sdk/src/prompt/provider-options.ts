import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { CacheMark, JSONObject, ProviderOptions } from '@h/turn';

/** Returns a member with provider options, or an empty object. */
export const optionsMember = (options: ProviderOptions | undefined): { providerOptions?: SharedV4ProviderOptions } =>
  options === undefined ? {} : { providerOptions: options };

/** Merges options; for the same member of a provider, the later value takes precedence. */
export const mergeProviderOptions = (
  earlier: ProviderOptions,
  later: ProviderOptions | undefined,
): SharedV4ProviderOptions => {
  const merged: Record<string, JSONObject> = { ...earlier };
  for (const [provider, options] of Object.entries(later ?? {})) merged[provider] = { ...merged[provider], ...options };
  return merged;
};

/**
 * Converts a cache breakpoint to the options of the providers that support it.
 *
 * These are Anthropic's (also read by Vertex, Bedrock's Anthropic endpoint and OpenRouter) and Bedrock's. Other
 * providers ignore both and cache prefixes automatically.
 */
export const cacheOptions = ({ ttl }: CacheMark): ProviderOptions => ({
  anthropic: { cacheControl: { type: 'ephemeral', ...(ttl && { ttl }) } },
  bedrock: { cachePoint: { type: 'default', ...(ttl && { ttl }) } },
});
