import { LLMock } from '@copilotkit/aimock';
import { harness, reply } from '@h/turn';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  driverOf,
  ModelError,
  openModels,
  providers,
  secretsIn,
  type ModelChoice,
  type ModelsOptions,
  type Provider,
} from './index.js';

const startServer = async (): Promise<{ url: string; asked: (string | undefined)[] }> => {
  const server = new LLMock({ port: 0, host: '127.0.0.1' });
  const asked: (string | undefined)[] = [];
  server.on({ predicate: () => true }, (request) => {
    asked.push(request.model);
    return { content: 'Hello.' };
  });
  const url = await server.start();
  onTestFinished(() => server.stop());
  return { url, asked };
};

describe('openModels', () => {
  it.each<[model: string, path: string, environment: Record<string, string>]>([
    ['anthropic/claude-sonnet-4-5', '/v1', { ANTHROPIC_API_KEY: 'k' }],
    ['openai/gpt-5.1', '/v1', { OPENAI_API_KEY_2: 'k' }],
    ['google/gemini-2.5-pro', '/v1beta', { GEMINI_API_KEY: 'k' }],
    ['ollama/llama3.2', '/v1', {}],
    ['acme-1/large', '/v1', { ACME_1_API_KEY: 'k' }],
    ['acme-1/large', '/v1', {}],
  ])('calls %s', async (model, path, environment) => {
    const { url, asked } = await startServer();
    const providers = { [model.split('/')[0] ?? '']: { baseUrl: `${url}${path}` } };
    const { driver, name } = openModels({ environment, providers }).choose({ model });
    const { text } = await reply(
      harness({ model: driver, defaultModel: name }).pipe().turn({ session: 'a', input: 'Hi' }),
    );
    expect([text, asked]).toEqual(['Hello.', [model.slice(model.indexOf('/') + 1)]]);
  });

  it.each(['openModels', 'driverOf'] as const)('connects again after a connection failed, with %s', async (kind) => {
    const { url } = await startServer();
    const connection = { baseURL: `${url}/v1`, apiKey: 'k' };
    const provider = providers['openai'] as Provider;
    const connect = vi.spyOn(provider, 'connect').mockRejectedValueOnce(new Error('EMFILE: too many open files'));
    onTestFinished(() => connect.mockRestore());
    const driver =
      kind === 'driverOf'
        ? driverOf(provider, 'gpt-5.1', connection)
        : openModels({
            environment: { OPENAI_API_KEY: 'k' },
            providers: { openai: { baseUrl: connection.baseURL } },
          }).choose({ model: 'openai/gpt-5.1' }).driver;
    const agent = harness({ model: driver, defaultModel: 'openai/gpt-5.1' }).pipe();
    const outcomes = [];
    for (const input of ['1', '2', '3']) outcomes.push((await reply(agent.turn({ session: 'a', input }))).outcome);
    expect(outcomes).toEqual(['error', 'completed', 'completed']);
    expect(connect).toHaveBeenCalledTimes(2);
  });

  it('takes a failed connection for that of the service only if a model has answered', async () => {
    const { url } = await startServer();
    const providers = { ollama: { baseUrl: `${url}/v1` } };
    const { driver, name, classify } = openModels({ environment: {}, providers }).choose({ model: 'ollama/llama3.2' });
    const scope = (): unknown =>
      classify({ name: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' }).scope;
    const before = scope();
    await reply(harness({ model: driver, defaultModel: name }).pipe().turn({ session: 'a', input: 'Hi' }));
    expect([before, scope()]).toEqual(['request', 'service']);
  });

  it('shares keys and cooldowns between choices', () => {
    const models = openModels({ environment: { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' } });
    const first = models.choose({ model: 'openai/a', fallback: ['anthropic/b'] });
    expect(first.fallbacks).toEqual(['anthropic/b']);
    expect(first.pool).toBe(models.choose({ model: 'anthropic/b' }).pool);
  });

  it('accepts other variables and other context windows', () => {
    const models = openModels({
      environment: { TEAM_KEY: 'k', OPENAI_API_KEY: 'k' },
      providers: { anthropic: { keys: ['TEAM_KEY'], contextWindow: 1_000 } },
    });
    expect(models.usual).toBe('anthropic/claude-sonnet-4-5');
    const { contextWindow } = models.choose();
    expect([contextWindow(), contextWindow('openai/x')]).toEqual([1_000, 128_000]);
  });

  it.each<[code: string, options: ModelsOptions, choice: ModelChoice]>([
    ['no-model', { environment: {} }, {}],
    ['invalid-model-name', { environment: {} }, { model: 'claude' }],
    ['unknown-provider', { environment: {} }, { model: 'constructor/x' }],
    ['unknown-provider', { environment: {} }, { model: 'ollama/x', fallback: ['other/x'] }],
    ['missing-key', { environment: { OPENAI_API_KEY: '' } }, { model: 'openai/x' }],
    ['missing-key', { environment: {}, providers: { openai: { keys: ['TEAM_KEY'] } } }, { model: 'openai/x' }],
    ['invalid-base-url', { environment: {}, providers: { ollama: { baseUrl: 'file:///x' } } }, {}],
    ['invalid-base-url', { environment: {}, providers: { ollama: { baseUrl: 'localhost' } } }, {}],
    ...['ftp://u:hunter2@h/', 'http://u:hunter2@h/v1', 'http://h/v1?key=1', 'http://h/v1#a'].map(
      (baseUrl): [string, ModelsOptions, ModelChoice] => [
        'invalid-base-url',
        { environment: {}, providers: { ollama: { baseUrl } } },
        {},
      ],
    ),
    ['invalid-model-name', { environment: {} }, { model: 'ollama/x\n' }],
    ['invalid-key', { environment: { OPENAI_API_KEY_2: 'hunter2\nhunter2' } }, { model: 'openai/x' }],
    ['missing-key', { environment: { OPENAI_API_KEY: ' \n' } }, { model: 'openai/x' }],
    ['invalid-option', { environment: {} }, { model: 5 } as unknown as ModelChoice],
    ['invalid-option', { environment: {} }, { model: 'ollama/x', fallback: 'ollama/y' } as unknown as ModelChoice],
    ['invalid-option', { environment: {} }, { model: 'ollama/x', falback: [] } as ModelChoice],
    ['invalid-option', { environment: {}, provider: {} } as ModelsOptions, {}],
    [
      'invalid-option',
      { environment: {}, providers: { openai: { baseURL: 'http://127.0.0.1/v1' } } } as ModelsOptions,
      {},
    ],
    ['invalid-option', { environment: {}, providers: { openai: { keys: [''] } } }, {}],
    ['invalid-option', { environment: {}, providers: { openai: { contextWindow: Number.NaN } } }, {}],
  ])('throws %s', (code, options, choice) => {
    const open = (): unknown => openModels(options).choose(choice);
    expect(open).toThrow(expect.objectContaining({ code }) as Error);
    expect(open).not.toThrow(/hunter2/);
    if (code !== 'invalid-option') expect(open).toThrow(ModelError);
  });
});

describe('secretsIn', () => {
  it('returns the values of keys and passwords', () => {
    const environment = {
      OPENAI_API_KEY_2: 'sk-123456',
      DB_PASSWORD: 'secret',
      SHORT_TOKEN: 'short',
      HOME: '/home/al',
    };
    expect(secretsIn(environment)).toEqual(['sk-123456', 'secret']);
  });
});
