import type { AnyLanguageModel } from '@h/ai-sdk';

/** Creates a model by name. */
export type ModelFactory = (model: string) => AnyLanguageModel;

/** Connection settings of a provider. */
export interface Connection {
  readonly apiKey?: string | undefined;
  readonly baseURL?: string | undefined;
}

/** Changes to a provider. */
export interface ProviderSettings {
  /** @defaultValue the address that the provider documents */
  readonly baseUrl?: string | undefined;
  /** Environment variables that may hold a key, also as `NAME_2` to `NAME_9`. */
  readonly keys?: readonly string[] | undefined;
  /** Context window of its models in tokens. */
  readonly contextWindow?: number | undefined;
}

/** A provider of models. `connect` loads its SDK. */
export interface Provider {
  /** Environment variables that may hold the key; the first one that is set is used. Empty: no key is required. */
  readonly keys: readonly string[];
  /** The model to use if the user names none; a provider without it must be named. */
  readonly defaultModel?: string | undefined;
  /** The smallest context window of the common models, in tokens; unknown if it depends on the server. */
  readonly contextWindow?: number | undefined;
  connect(connection: Connection): Promise<ModelFactory>;
}

/** Known providers, by name. */
export const providers: Readonly<Record<string, Provider>> = {
  anthropic: {
    keys: ['ANTHROPIC_API_KEY'],
    defaultModel: 'claude-sonnet-4-5',
    contextWindow: 200_000,
    connect: async (connection) => (await import('@ai-sdk/anthropic')).createAnthropic(set(connection)),
  },
  openai: {
    keys: ['OPENAI_API_KEY'],
    defaultModel: 'gpt-5.1',
    contextWindow: 128_000,
    connect: async (connection) => (await import('@ai-sdk/openai')).createOpenAI(set(connection)),
  },
  google: {
    keys: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    defaultModel: 'gemini-2.5-pro',
    contextWindow: 1_000_000,
    connect: async (connection) => (await import('@ai-sdk/google')).createGoogle(set(connection)),
  },
  ollama: {
    keys: [],
    connect: (connection) => connectCompatible('ollama', { baseURL: 'http://127.0.0.1:11434/v1', ...set(connection) }),
  },
};

/** A server that implements the chat API of OpenAI. */
export const compatibleProvider = (name: string): Provider => ({
  keys: [],
  connect: (connection) => connectCompatible(name, connection),
});

const connectCompatible = async (name: string, { apiKey, baseURL = '' }: Connection): Promise<ModelFactory> => {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({ name, baseURL, includeUsage: true, ...(apiKey !== undefined && { apiKey }) });
};

/** Drops `undefined` settings, which the SDKs do not treat as missing. */
const set = ({ apiKey, baseURL }: Connection): { apiKey?: string; baseURL?: string } => ({
  ...(apiKey !== undefined && { apiKey }),
  ...(baseURL !== undefined && { baseURL }),
});
