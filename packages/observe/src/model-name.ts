import type { ObserveOptions } from './options.js';

/** A model by its provider and its own name. */
export interface ModelName {
  readonly provider: string | undefined;
  readonly model: string | undefined;
}

/** Splits `provider/model`; for other names the provider comes from the options. */
export const nameModel = (name: string | undefined, provider: ObserveOptions['provider']): ModelName => {
  const slash = name?.indexOf('/') ?? -1;
  if (name !== undefined && slash > 0) return { provider: name.slice(0, slash), model: name.slice(slash + 1) };
  return { provider: typeof provider === 'function' ? provider(name) : provider, model: name };
};

/** The name by which prices are looked up. */
export const qualifiedName = (provider: string | undefined, model: string): string =>
  provider === undefined ? model : `${provider}/${model}`;
