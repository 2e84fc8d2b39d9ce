import { expect, it, vi } from 'vitest';

const loaded = vi.hoisted((): string[] => []);

vi.mock('js-tiktoken/ranks/o200k_base', async (original) => {
  loaded.push('o200k_base');
  return original();
});
vi.mock('js-tiktoken/ranks/cl100k_base', async (original) => {
  loaded.push('cl100k_base');
  return original();
});

it('loads the tokenizer of a model when a request comes near the threshold, and not before', async () => {
  // Other test files of this process may have loaded the tokenizers.
  vi.resetModules();
  const { harness, reply } = await import('@h/turn');
  const { scriptedModel, user } = await import('@h/turn/testing');
  const { compaction, createTokenCounter } = await import('./index.js');
  const counter = createTokenCounter();
  const agent = harness({ model: scriptedModel(['One.', 'Two.', 'Three.']), defaultModel: 'gpt-5' }).pipe(
    compaction({ window: 10_000, reserve: 0, threshold: 0.5, counter }),
  );
  await reply(agent.turn({ session: 'alice', input: 'Some words. '.repeat(300) }));
  expect(loaded).toEqual([]);
  await reply(agent.turn({ session: 'alice', input: [user('Some words. '.repeat(1300))] }));
  expect(loaded).toEqual(['o200k_base']);
  expect(counter.gauge('gpt-5').name).toBe('o200k_base');
});
