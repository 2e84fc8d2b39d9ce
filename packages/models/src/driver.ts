import { languageModel } from '@h/ai-sdk';
import type { ModelDriver } from '@h/turn';
import type { Connection, ModelFactory, Provider } from './providers.js';

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
