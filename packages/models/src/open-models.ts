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
import {
  anyObject,
  anyString,
  arrayOf,
  checkOptions,
  integerFrom,
  nonEmptyString,
  objectOf,
  recordOf,
  required,
} from '@h/options';
import type { ErrorInfo, ModelDriver } from '@h/turn';
import { from, tap } from 'rxjs';
import { connectOnce } from './driver.js';
import { keyNames, profilesOf } from './keys.js';
import { ModelError } from './model-error.js';
import { compatibleProvider, providers, type ModelFactory, type Provider, type ProviderSettings } from './providers.js';

/** A model with everything that a pipeline needs to call it. */
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

/** Names of models. */
export interface ModelChoice {
  /** `provider/model`. @defaultValue the default model of the first provider with a key */
  readonly model?: string | undefined;
  /** Models to fall back to, in order. */
  readonly fallback?: readonly string[] | undefined;
}

/** Options of {@link openModels}. */
export interface ModelsOptions {
  /** The environment variables with the keys. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Settings of providers by name. A provider that is not a known one needs a `baseUrl`. */
  readonly providers?: Readonly<Record<string, ProviderSettings>> | undefined;
  /** How messages name the settings, such as `--model`. @defaultValue `model`, `fallback` and `baseUrl` */
  readonly labels?: { readonly model: string; readonly fallback: string; readonly baseUrl: string } | undefined;
}

/** The models of a process. All choices share keys, cooldowns and connections. */
export interface Models {
  /** The default model of the first provider with a key. */
  readonly usual: string | undefined;
  /**
   * Chooses a model and its fallbacks. A provider SDK is loaded on the first request.
   *
   * @throws ModelError if a name is invalid, a provider is unknown, or a key is missing or invalid; InvalidOptionError
   *   for an invalid option
   */
  choose(choice?: ModelChoice): ChosenModel & { readonly name: string };
}

/** A provider with its connection settings. */
interface Endpoint {
  readonly service: Provider;
  readonly baseURL: string | undefined;
  /** Names of the variables that may hold a key. */
  readonly names: readonly string[];
  readonly profiles: ReturnType<typeof profilesOf>;
}

/**
 * Opens the models of a process with the keys of its environment.
 *
 * @throws ModelError if a base URL is invalid; InvalidOptionError for an invalid option
 *
 * @example
 * ```ts
 * const { driver, name } = openModels({ environment: process.env }).choose({ model: 'anthropic/claude-sonnet-4-5' });
 * harness({ model: driver, defaultModel: name });
 * ```
 */
export const openModels = (options: ModelsOptions): Models => {
  checkOptions('openModels()', options, {
    environment: required(anyObject),
    providers: recordOf(objectOf({ baseUrl: anyString, keys: arrayOf(nonEmptyString), contextWindow: integerFrom(1) })),
    labels: objectOf({
      model: required(nonEmptyString),
      fallback: required(nonEmptyString),
      baseUrl: required(nonEmptyString),
    }),
  });
  const { environment, providers: settings = {} } = options;
  const labels = options.labels ?? { model: 'model', fallback: 'fallback', baseUrl: 'baseUrl' };
  const endpoints = new Map<string, Endpoint>(
    [...new Set([...Object.keys(providers), ...Object.keys(settings)])].flatMap((provider) => {
      const { baseUrl, keys, contextWindow } = settings[provider] ?? {};
      const known = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
      const baseURL = checkedUrl(labels.baseUrl, baseUrl);
      if (known === undefined && baseURL === undefined) return [];
      const service = known ?? compatibleProvider(provider);
      const names = keys ?? (known === undefined ? [keyOf(provider)] : known.keys);
      const endpoint = {
        service: contextWindow === undefined ? service : { ...service, contextWindow },
        baseURL,
        names,
        profiles: profilesOf(provider, names, environment),
      };
      return [[provider, endpoint] as const];
    }),
  );
  const pool = createCredentialPool({
    profiles: [...endpoints.values()].flatMap(({ profiles }) => profiles),
    env: environment,
  });
  const reached = new Set<string | undefined>();
  const route = routeTo(endpoints, pool);
  const usual = usualModel(endpoints, environment);
  const checkName = (label: string, name: string): void => {
    const { provider, model } = splitModelName(name);
    if (provider === undefined || model === '' || unlikelyName.test(name)) {
      const example = 'anthropic/claude-sonnet-4-5';
      const message = `${label} must be provider/model, such as ${example}, but is ${JSON.stringify(name)}.`;
      throw new ModelError('invalid-model-name', message);
    }
    const endpoint = endpoints.get(provider);
    if (endpoint === undefined) {
      const names = [...endpoints.keys()].join(', ');
      throw new ModelError(
        'unknown-provider',
        `The provider ${JSON.stringify(provider)} is unknown. Use ${names}, or pass the URL of an OpenAI-compatible server with ${labels.baseUrl}.`,
      );
    }
    const { service, names, profiles } = endpoint;
    if (
      (service.keys.length > 0 || settings[provider]?.keys !== undefined) &&
      names.length > 0 &&
      profiles.length === 0
    ) {
      throw new ModelError('missing-key', `${name} requires a key. Set ${names.join(' or ')}.`);
    }
    const unusable = keyNames(names, environment).find((key) => !isHeaderValue(environment[key]?.trim() ?? ''));
    if (unusable !== undefined) {
      const message = `The key in ${unusable} contains a line break or a character that is not ASCII. Remove it.`;
      throw new ModelError('invalid-key', message);
    }
  };
  return {
    usual,
    choose: (choice = {}) => {
      checkOptions('choose()', choice, { model: anyString, fallback: arrayOf(anyString) });
      const { model, fallback = [] } = choice;
      const name = model ?? usual;
      if (name === undefined) {
        const message = `No model is configured. Set ${allKeys.join(', ')}, or pass ${labels.model} provider/model.`;
        throw new ModelError('no-model', message);
      }
      checkName(labels.model, name);
      for (const other of fallback) checkName(labels.fallback, other);
      const driver = languageModel({ resolve: (asked = name, credential) => route(asked, credential) });
      return {
        name,
        fallbacks: fallback,
        pool,
        driver: streamTimeouts(redactKeys(noting(reached, driver), pool)),
        classify: (error, given) => {
          const found = classifyError(error, given);
          // If no model has ever answered, the address may be wrong. Retry without a cooldown, which would block the
          // next turn.
          return found.reason === 'network' && reached.size === 0 ? { ...found, scope: 'request' } : found;
        },
        contextWindow: (asked = name) => endpoints.get(splitModelName(asked).provider ?? '')?.service.contextWindow,
      };
    },
  };
};

/** Records the models that have answered. */
const noting =
  (reached: Set<string | undefined>, driver: ModelDriver): ModelDriver =>
  (request, context) =>
    from(driver(request, context)).pipe(tap(({ type }) => type === 'error' || reached.add(request.model)));

/** Routes each request to the model and the key that it names, and connects to a provider on its first request. */
const routeTo = (endpoints: ReadonlyMap<string, Endpoint>, pool: CredentialPool) => {
  const connections = new Map<string, () => Promise<ModelFactory>>();
  return async (name: string, credential: string | undefined): Promise<ReturnType<ModelFactory>> => {
    const { provider = '', model } = splitModelName(name);
    const endpoint = endpoints.get(provider);
    if (endpoint === undefined) {
      throw new ModelError(
        'unknown-provider',
        `The provider ${JSON.stringify(provider)} of ${name} is not configured.`,
      );
    }
    const id = credential ?? endpoint.profiles[0]?.id;
    const apiKey = id === undefined ? undefined : await pool.key(id);
    const place = `${provider} ${id ?? ''}`;
    const connect = connections.get(place) ?? connectOnce(endpoint.service, { baseURL: endpoint.baseURL, apiKey });
    connections.set(place, connect);
    return (await connect())(model);
  };
};

const allKeys = Object.values(providers).flatMap(({ keys }) => keys.slice(0, 1));

const usualModel = (
  endpoints: ReadonlyMap<string, Endpoint>,
  environment: ModelsOptions['environment'],
): string | undefined => {
  const found = [...endpoints].find(
    ([, { service, names }]) => service.defaultModel !== undefined && keyNames(names, environment).length > 0,
  );
  return found && `${found[0]}/${found[1].service.defaultModel}`;
};

/** The environment variable for the key of an unknown provider. */
const keyOf = (provider: string): string => `${provider.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_API_KEY`;

/** Whitespace at an end and control characters come from a file or a shell, not from the name of a model. */
const unlikelyName = /^\s|\s$|\p{Cc}/u;

const isHeaderValue = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

const checkedUrl = (label: string, text: string | undefined): string | undefined => {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const problem = url === undefined ? notHttp : problemOf(url);
  if (problem === undefined) return text.trim();
  // A URL may contain a password.
  const shown = text.includes('@') ? '' : `, but is ${JSON.stringify(text)}`;
  throw new ModelError('invalid-base-url', `${label} must ${problem}${shown}. Example: http://127.0.0.1:11434/v1`);
};

const notHttp = 'be an http or https URL';

const problemOf = ({ protocol, username, password, search, hash }: URL): string | undefined => {
  if (protocol !== 'http:' && protocol !== 'https:') return notHttp;
  if (username !== '' || password !== '') return 'not contain a user or a password (set the key in the environment)';
  return search === '' && hash === '' ? undefined : 'have no query and no fragment';
};
