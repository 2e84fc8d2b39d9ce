import { LLMock } from '@copilotkit/aimock';
import { describe, expect, it, onTestFinished } from 'vitest';
import { liveProviders } from './providers.js';
import { scenarios } from './scenarios.js';

const paths = { anthropic: '/v1', openai: '/v1', google: '/v1beta' } as const;
const keys = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', GOOGLE_GENERATIVE_AI_API_KEY: 'k' };

/** The scenarios of live tests, against a mock of each provider on loopback. */
describe.each(Object.entries(paths))('%s', (name, path) => {
  it.each(scenarios.map((scenario) => [scenario.title, scenario] as const))('%s', async (_, { run, mock }) => {
    const server = new LLMock({ port: 0, host: '127.0.0.1' });
    server.on({ predicate: () => true }, mock);
    const url = await server.start();
    onTestFinished(() => server.stop());
    const { providers } = liveProviders({ ...keys, [`${name.toUpperCase()}_BASE_URL`]: `${url}${path}` });
    const provider = providers.find((one) => one.name === name);
    if (!provider) throw new Error(`The provider ${name} is unknown.`);
    await run(provider);
    expect(server.getRequests().length).toBeGreaterThan(0);
  });
});

describe('liveProviders', () => {
  it('names the keys that are not set', () => {
    expect(liveProviders({ OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: '' })).toMatchObject({
      providers: [{ name: 'openai', model: 'gpt-5-mini' }],
      missing: ['ANTHROPIC_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    });
  });
});
