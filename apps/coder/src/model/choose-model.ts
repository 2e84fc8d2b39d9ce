import { languageModel } from '@h/ai-sdk';
import {
  classifyError,
  createCredentialPool,
  redactKeys,
  splitModelName,
  streamTimeouts,
  type ClassifyOptions,
  type CredentialPool,
  type ErrorClass,
} from '@h/failover';
import type { ErrorInfo, ModelDriver } from '@h/turn';
import { from, tap } from 'rxjs';
import { UsageError } from '../usage-error.js';
import { keyNames, profilesOf } from './keys.js';
import { compatibleProvider, providers, type Connection, type ModelFactory, type Provider } from './providers.js';

/** Models that can be asked. */
export interface ChosenModel {
  /** `provider/model`; a driver that knows one model only needs no name. */
  readonly name: string | undefined;
  /** The models that are asked when that one fails, in order. */
  readonly fallbacks: readonly string[];
  readonly driver: ModelDriver;
  readonly pool: CredentialPool;
  /** Says why a call failed. */
  readonly classify: (error: ErrorInfo, options?: ClassifyOptions) => ErrorClass;
  /** How many tokens a model takes in, where that is known. */
  readonly contextWindow: (model?: string) => number | undefined;
}

/** What a model is chosen by. */
export interface ModelWish {
  /** `provider/model`; without it, the first provider that has a key answers with its usual model. */
  readonly model?: string | undefined;
  readonly fallback?: readonly string[] | undefined;
  readonly baseUrl?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Whether a model can be chosen although the user names none. */
export const hasKey = (environment: ModelWish['environment']): boolean => usualModel(environment) !== undefined;

/**
 * The model that the user asks for, those that stand in for it, and the keys from the environment. Nothing is loaded
 * before it is first asked.
 *
 * @throws UsageError where a provider is unknown, a key is missing or the address is none
 */
export const chooseModel = ({
  model,
  fallback = [],
  baseUrl,
  environment,
}: ModelWish): ChosenModel & { readonly name: string } => {
  const name = model ?? usualModel(environment);
  if (name === undefined) {
    throw new UsageError(`No model to ask: set ${allKeys.join(', ')}, or name a model with --model provider/model.`);
  }
  const first = endpointOf('--model', name, checkedUrl(baseUrl), environment);
  const endpoints = new Map([[first.provider, first]]);
  for (const other of fallback) {
    const endpoint =
      endpoints.get(splitModelName(other).provider ?? '') ?? endpointOf('--fallback', other, undefined, environment);
    endpoints.set(endpoint.provider, endpoint);
  }
  const pool = createCredentialPool({
    profiles: [...endpoints.values()].flatMap(({ profiles }) => profiles),
    env: environment,
  });
  const reached = new Set<string | undefined>();
  return {
    name,
    fallbacks: fallback,
    pool,
    driver: streamTimeouts(redactKeys(noting(reached, driverFor(name, endpoints, pool)), pool)),
    classify: (error, options) => {
      const found = classifyError(error, options);
      // A model that has never answered may not exist at this address. It is retried, but gets no cooldown: the next turn tries again.
      return found.reason === 'network' && reached.size === 0 ? { ...found, scope: 'request' } : found;
    },
    contextWindow: (asked = name) => endpoints.get(splitModelName(asked).provider ?? '')?.service.contextWindow,
  };
};

/** Notes which models have ever said anything. */
const noting =
  (reached: Set<string | undefined>, driver: ModelDriver): ModelDriver =>
  (request, context) =>
    from(driver(request, context)).pipe(tap(({ type }) => type === 'error' || reached.add(request.model)));

/** A provider that can be asked. */
interface Endpoint {
  readonly provider: string;
  readonly service: Provider;
  readonly baseURL: string | undefined;
  readonly profiles: ReturnType<typeof profilesOf>;
}

const endpointOf = (
  option: string,
  name: string,
  baseURL: string | undefined,
  environment: ModelWish['environment'],
): Endpoint => {
  const { provider, model } = splitModelName(name);
  if (provider === undefined || model === '') {
    throw new UsageError(
      `${option} takes provider/model, such as anthropic/claude-sonnet-4-5; it was given ${JSON.stringify(name)}.`,
    );
  }
  const known = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  if (known === undefined && baseURL === undefined) {
    const names = Object.keys(providers).join(', ');
    throw new UsageError(
      `The provider ${JSON.stringify(provider)} is unknown: use ${names}, or give the address of an OpenAI-compatible server with --base-url.`,
    );
  }
  const names = known?.keys ?? [keyOf(provider)];
  const profiles = profilesOf(provider, names, environment);
  if (known !== undefined && known.keys.length > 0 && profiles.length === 0) {
    throw new UsageError(`${name} needs a key: set ${names.join(' or ')}.`);
  }
  return { provider, service: known ?? compatibleProvider(provider), baseURL, profiles };
};

/** Asks the model that a request names, with the key that it names. Each provider is connected to when it is first asked. */
const driverFor = (usual: string, endpoints: ReadonlyMap<string, Endpoint>, pool: CredentialPool): ModelDriver => {
  const connected = new Map<string, Promise<ModelFactory>>();
  return languageModel({
    resolve: async (name = usual, credential) => {
      const { provider = '', model } = splitModelName(name);
      const endpoint = endpoints.get(provider);
      if (endpoint === undefined) {
        throw new UsageError(`There is no connection to the provider ${JSON.stringify(provider)}.`);
      }
      const id = credential ?? endpoint.profiles[0]?.id;
      const apiKey = id === undefined ? undefined : await pool.key(id);
      const place = `${provider} ${id ?? ''}`;
      const factory = connected.get(place) ?? endpoint.service.connect({ baseURL: endpoint.baseURL, apiKey });
      connected.set(place, factory);
      return (await factory)(model);
    },
  });
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

const usualModel = (environment: ModelWish['environment']): string | undefined => {
  const found = Object.entries(providers).find(
    ([, { keys, defaultModel }]) => defaultModel !== undefined && keyNames(keys, environment).length > 0,
  );
  return found && `${found[0]}/${found[1].defaultModel}`;
};

/** Where the key of a provider that is not known would be. */
const keyOf = (provider: string): string => `${provider.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_API_KEY`;

const checkedUrl = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return text;
  throw new UsageError(
    `--base-url takes an address such as http://127.0.0.1:11434/v1; it was given ${JSON.stringify(text)}.`,
  );
};
