import { languageModel } from '@h/ai-sdk';
import type { ModelDriver } from '@h/turn';
import { UsageError } from '../usage-error.js';
import { compatibleProvider, providers, type Connection, type ModelFactory, type Provider } from './providers.js';

/** A model that can be asked. */
export interface ChosenModel {
  /** `provider/model` */
  readonly name: string;
  readonly driver: ModelDriver;
  /** How many tokens it takes in, where that is known. */
  readonly contextWindow: number | undefined;
}

/** What a model is chosen by. */
export interface ModelWish {
  /** `provider/model`; without it, the first provider that has a key answers with its usual model. */
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Whether a model can be chosen although the user names none. */
export const hasKey = (environment: ModelWish['environment']): boolean => usualModel(environment) !== undefined;

/**
 * The model that the user asks for, with the key from the environment. Nothing is loaded before it is first asked.
 *
 * @throws UsageError where the provider is unknown, the key is missing or the address is none
 */
export const chooseModel = ({ model, baseUrl, environment }: ModelWish): ChosenModel => {
  const name = model ?? usualModel(environment);
  if (name === undefined) throw new UsageError(`No model to ask: set ${allKeys.join(', ')}, or name a model with --model provider/model.`);
  const slash = name.indexOf('/');
  const [provider, id] = [name.slice(0, slash), name.slice(slash + 1)];
  if (slash < 1 || id === '') throw new UsageError(`--model takes provider/model, such as anthropic/claude-sonnet-4-5; it was given ${JSON.stringify(name)}.`);
  const connection = { baseURL: checkedUrl(baseUrl) };
  const known = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  if (known === undefined && baseUrl === undefined) {
    const names = Object.keys(providers).join(', ');
    throw new UsageError(`The provider ${JSON.stringify(provider)} is unknown: use ${names}, or give the address of an OpenAI-compatible server with --base-url.`);
  }
  const apiKey = known === undefined ? environment[keyOf(provider)] : keyFor(name, known, environment);
  return { name, contextWindow: known?.contextWindow, driver: driverOf(known ?? compatibleProvider(provider), id, { ...connection, ...(apiKey !== undefined && { apiKey }) }) };
};

/** A model of a provider, which is connected to when it is first asked. */
export const driverOf = (provider: Provider, model: string, connection: Connection): ModelDriver => {
  let connected: Promise<ModelFactory> | undefined;
  return languageModel({
    resolve: async () => {
      connected ??= provider.connect(connection);
      return (await connected)(model);
    },
  });
};

const allKeys = Object.values(providers).flatMap(({ keys }) => keys.slice(0, 1));

const valueOf = (environment: ModelWish['environment'], names: readonly string[]): string | undefined =>
  names.map((name) => environment[name]).find((value) => value !== undefined && value !== '');

const usualModel = (environment: ModelWish['environment']): string | undefined => {
  const found = Object.entries(providers).find(([, { keys, defaultModel }]) => defaultModel !== undefined && valueOf(environment, keys) !== undefined);
  return found && `${found[0]}/${found[1].defaultModel}`;
};

const keyFor = (name: string, { keys }: Provider, environment: ModelWish['environment']): string | undefined => {
  const key = valueOf(environment, keys);
  if (key === undefined && keys.length > 0) throw new UsageError(`${name} needs a key: set ${keys.join(' or ')}.`);
  return key;
};

/** Where the key of a provider that is not known would be. */
const keyOf = (provider: string): string => `${provider.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_API_KEY`;

const checkedUrl = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return text;
  throw new UsageError(`--base-url takes an address such as http://127.0.0.1:11434/v1; it was given ${JSON.stringify(text)}.`);
};
