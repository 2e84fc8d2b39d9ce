import type { ObserveOptions } from './options.js';

/** The provider and the name of a model. */
export interface ModelName {
  readonly provider: string | undefined;
  readonly model: string | undefined;
}

/** Splits `provider/model`; takes the provider of other names from the options. */
export const nameModel = (name: string | undefined, provider: ObserveOptions['provider']): ModelName => {
  const slash = name?.indexOf('/') ?? -1;
  if (name !== undefined && slash > 0) return { provider: name.slice(0, slash), model: name.slice(slash + 1) };
  return { provider: typeof provider === 'function' ? provider(name) : provider, model: name };
};

/** Returns the name for price lookups. */
export const qualifiedName = (provider: string | undefined, model: string): string =>
  provider === undefined ? model : `${provider}/${model}`;
