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

/** The models of a run. */
export interface ChosenModel {
  /** `provider/model`; `undefined` for a driver with a single model. */
  readonly name: string | undefined;
  /** Models to fall back to, in order. */
  readonly fallbacks: readonly string[];
  readonly driver: ModelDriver;
  readonly pool: CredentialPool;
  /** Classifies the error of a model call. */
  readonly classify: (error: ErrorInfo, options?: ClassifyOptions) => ErrorClass;
  /** Context window of a model in tokens, if known. */
  readonly contextWindow: (model?: string) => number | undefined;
}

/** Options of {@link chooseModel}. */
export interface ModelChoice {
  /** `provider/model`; defaults to the default model of the first provider with a key. */
  readonly model?: string | undefined;
  readonly fallback?: readonly string[] | undefined;
  readonly baseUrl?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Whether the environment has a key that selects a default model. */
export const hasKey = (environment: ModelChoice['environment']): boolean => usualModel(environment) !== undefined;

/**
 * Resolves the model, its fallbacks and the keys from the environment. A provider SDK is loaded on the first request.
 *
 * @throws UsageError if a provider is unknown, a key is missing or the base URL is invalid
 */
export const chooseModel = ({
  model,
  fallback = [],
  baseUrl,
  environment,
}: ModelChoice): ChosenModel & { readonly name: string } => {
  const name = model ?? usualModel(environment);
  if (name === undefined) {
    throw new UsageError(`No model is configured. Set ${allKeys.join(', ')}, or pass --model provider/model.`);
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
      // If no model has ever answered, the address may be wrong. Retry without a cooldown, which would block the next
      // turn.
      return found.reason === 'network' && reached.size === 0 ? { ...found, scope: 'request' } : found;
    },
    contextWindow: (asked = name) => endpoints.get(splitModelName(asked).provider ?? '')?.service.contextWindow,
  };
};

/** Records the models that have answered. */
const noting =
  (reached: Set<string | undefined>, driver: ModelDriver): ModelDriver =>
  (request, context) =>
    from(driver(request, context)).pipe(tap(({ type }) => type === 'error' || reached.add(request.model)));

/** A provider with its connection settings. */
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
  environment: ModelChoice['environment'],
): Endpoint => {
  const { provider, model } = splitModelName(name);
  if (provider === undefined || model === '') {
    throw new UsageError(
      `${option} must be provider/model, such as anthropic/claude-sonnet-4-5, but is ${JSON.stringify(name)}.`,
    );
  }
  const known = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  if (known === undefined && baseURL === undefined) {
    const names = Object.keys(providers).join(', ');
    throw new UsageError(
      `The provider ${JSON.stringify(provider)} is unknown. Use ${names}, or pass the URL of an OpenAI-compatible server with --base-url.`,
    );
  }
  const names = known?.keys ?? [keyOf(provider)];
  const profiles = profilesOf(provider, names, environment);
  if (known !== undefined && known.keys.length > 0 && profiles.length === 0) {
    throw new UsageError(`${name} requires a key. Set ${names.join(' or ')}.`);
  }
  return { provider, service: known ?? compatibleProvider(provider), baseURL, profiles };
};

/** Routes each request to the model and the key that it names, and connects to a provider on its first request. */
const driverFor = (usual: string, endpoints: ReadonlyMap<string, Endpoint>, pool: CredentialPool): ModelDriver => {
  const connected = new Map<string, Promise<ModelFactory>>();
  return languageModel({
    resolve: async (name = usual, credential) => {
      const { provider = '', model } = splitModelName(name);
      const endpoint = endpoints.get(provider);
      if (endpoint === undefined) {
        throw new UsageError(
          `The provider ${JSON.stringify(provider)} is not configured. Add it with --model or --fallback.`,
        );
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

/** Creates the driver of one model and connects to the provider on the first request. */
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

const usualModel = (environment: ModelChoice['environment']): string | undefined => {
  const found = Object.entries(providers).find(
    ([, { keys, defaultModel }]) => defaultModel !== undefined && keyNames(keys, environment).length > 0,
  );
  return found && `${found[0]}/${found[1].defaultModel}`;
};

/** The environment variable for the key of an unknown provider. */
const keyOf = (provider: string): string => `${provider.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_API_KEY`;

const checkedUrl = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return text;
  throw new UsageError(`--base-url must be a URL such as http://127.0.0.1:11434/v1, but is ${JSON.stringify(text)}.`);
};
