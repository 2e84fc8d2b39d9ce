import { describe, it } from 'vitest';
import { liveProviders } from './providers.js';
import { scenarios } from './scenarios.js';

const { providers, missing } = liveProviders(process.env);

for (const provider of providers) {
  describe(`${provider.name} with ${provider.model}`, () => {
    it.each(scenarios.map((scenario) => [scenario.title, scenario] as const))('%s', (_, { run }) => run(provider));
  });
}

for (const key of missing) it.skip(`was not called, because ${key} is not set`);
