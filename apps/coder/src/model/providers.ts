import type { AnyLanguageModel } from '@h/ai-sdk';

/** Makes a model of a provider by its name. */
export type ModelFactory = (model: string) => AnyLanguageModel;

/** What a connection to a provider needs. */
export interface Connection {
  readonly apiKey?: string | undefined;
  readonly baseURL?: string | undefined;
}

/** A provider of models. Its SDK is loaded when it is connected to and not before. */
export interface Provider {
  /** Variables of the environment that may hold the key, the first one that is set counts. Without any, none is needed. */
  readonly keys: readonly string[];
  /** The model for those who name none; providers without one are only used when they are asked for. */
  readonly defaultModel?: string | undefined;
  /** How many tokens its usual models take in at least; unknown where that depends on who serves them. */
  readonly contextWindow?: number | undefined;
  connect(connection: Connection): Promise<ModelFactory>;
}

/** The providers that are known by name. */
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

/** A server that speaks OpenAI's chat interface. */
export const compatibleProvider = (name: string): Provider => ({
  keys: [],
  connect: (connection) => connectCompatible(name, connection),
});

const connectCompatible = async (name: string, { apiKey, baseURL = '' }: Connection): Promise<ModelFactory> => {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({ name, baseURL, includeUsage: true, ...(apiKey !== undefined && { apiKey }) });
};

/** Only what is given: the SDKs tell a missing setting from one that is `undefined`. */
const set = ({ apiKey, baseURL }: Connection): { apiKey?: string; baseURL?: string } => ({
  ...(apiKey !== undefined && { apiKey }),
  ...(baseURL !== undefined && { baseURL }),
});
