import { languageModel } from '@h/ai-sdk';
import type { ModelDriver } from '@h/turn';
import type { Connection, ModelFactory, Provider } from './providers.js';

/** Creates the driver of one model and connects to the provider on the first request. */
export const driverOf = (provider: Provider, model: string, connection: Connection): ModelDriver => {
  const connect = connectOnce(provider, connection);
  return languageModel({ resolve: async () => (await connect())(model) });
};

/** Connects to a provider on the first call. If that fails, for example without free file handles, the next call retries. */
export const connectOnce = (provider: Provider, connection: Connection): (() => Promise<ModelFactory>) => {
  let connected: Promise<ModelFactory> | undefined;
  return () => {
    connected ??= provider.connect(connection).catch((error: unknown) => {
      connected = undefined;
      throw error;
    });
    return connected;
  };
};
