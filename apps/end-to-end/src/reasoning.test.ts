import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { languageModel } from '@h/ai-sdk';
import { compaction } from '@h/compaction';
import { exponentialBackoff, failover } from '@h/failover';
import { reasoning } from '@h/reasoning';
import { harness, memorySessions, type TurnEvent, type TurnOperator } from '@h/turn';
import { scriptedTools } from '@h/turn/testing';
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startReasoningProviders, type Plan } from './reasoning-providers.js';

const models = { claude: 'anthropic/claude-opus-5-5', gpt: 'openai/gpt-5' } as const;

/** An agent whose models are on loopback. */
const start = async (plans: readonly Plan[], model: keyof typeof models, operators: readonly TurnOperator[]) => {
  const providers = await startReasoningProviders(plans);
  onTestFinished(() => providers.stop());
  const [anthropic, openai] = [createAnthropic, createOpenAI].map((create) =>
    create({ baseURL: providers.url, apiKey: 'test-key' }),
  );
  const resolve = (name = ''): ReturnType<ReturnType<typeof createOpenAI>> => {
    const [provider, id = ''] = name.split('/');
    return (provider === 'anthropic' ? anthropic : openai)?.(id) as ReturnType<ReturnType<typeof createOpenAI>>;
  };
  const sessions = memorySessions();
  const agent = harness({
    model: languageModel({ resolve }),
    defaultModel: models[model],
    tools: scriptedTools({ look: 'Nothing.' }),
    sessions,
    system: 'You are careful.',
    settings: { providerOptions: { openai: { store: false } } },
  }).pipe(...operators);
  const turn = (input: string, metadata?: { readonly compaction: 'now' }): Promise<TurnEvent[]> =>
    lastValueFrom(agent.turn({ session: 'alice', input, ...(metadata && { metadata }) }).pipe(toArray()));
  return { ...providers, turn, sessions };
};

const outcomeOf = (events: readonly TurnEvent[]): unknown => {
  const end = events.at(-1);
  return end?.type === 'turn.end' ? (end.error?.message ?? end.outcome) : undefined;
};

const compact = compaction({ window: 200_000, strategy: 'compact', keepMessages: 4 });
const withFallback = failover({
  models: [models.gpt],
  backoff: exponentialBackoff({ initialMs: 1, jitter: 0 }),
  maxRetries: 1,
});

describe('reasoning on the wire', () => {
  it('comes back to Anthropic to the byte, in the tool loop and in later turns', async () => {
    const { turn, received } = await start(['tool', 'tool', 'answer'], 'claude', [reasoning()]);
    expect([outcomeOf(await turn('Go.')), outcomeOf(await turn('And now?'))]).toEqual(['completed', 'completed']);
    expect(received.map(({ status, signatures }) => [status, signatures.length])).toEqual([
      [200, 0],
      [200, 1],
      [200, 2],
      [200, 3],
    ]);
    expect(received.map(({ effort }) => effort)).toEqual(['medium', 'medium', 'medium', 'medium']);
  });

  it('comes back to OpenAI with its encrypted content', async () => {
    const { turn, received } = await start(['tool', 'tool', 'answer'], 'gpt', [reasoning()]);
    const events = await turn('Go.');
    expect(outcomeOf(events)).toBe('completed');
    expect(received.map(({ signatures }) => signatures)).toEqual([[], ['encrypted-1'], ['encrypted-1', 'encrypted-2']]);
    expect(events.find(({ type }) => type === 'reasoning.used')).toMatchObject({
      effort: 'medium',
      tokens: 45,
      outputTokens: 120,
      share: 0.375,
    });
  });

  it('is dropped for the fallback model in the middle of a turn, and both continue', async () => {
    const overloaded: readonly Plan[] = ['overloaded', 'overloaded'];
    const plans: readonly Plan[] = ['tool', 'tool', ...overloaded, 'tool', 'answer'];
    const { turn, received } = await start(plans, 'claude', [withFallback, reasoning()]);
    expect(outcomeOf(await turn('Go.'))).toBe('completed');
    const used = received.map(({ to, status, signatures }) => `${to} ${status} ${signatures.length}`);
    expect(used.slice(0, 4)).toEqual(['anthropic 200 0', 'anthropic 200 1', 'anthropic 529 2', 'anthropic 529 2']);
    expect(used.slice(4)).toEqual(['openai 200 0', 'openai 200 1']);
    expect(received.at(-1)?.signatures).toEqual(['encrypted-3']);
    expect(received.at(-1)?.body).not.toContain('Claude thinks');
  });

  it.each([true, false])('survives a compaction as far as Claude can verify it (operator: %s)', async (has) => {
    const { turn, received } = await start([], 'claude', [compact, ...(has ? [reasoning()] : [])]);
    for (let count = 1; count <= 6; count += 1) {
      expect(outcomeOf(await turn(`${count}: ${'word '.repeat(300)}`))).toBe('completed');
    }
    const compacted = await turn('Compact.', { compaction: 'now' });
    expect(compacted.some(({ type }) => type === 'history.replace')).toBe(true);
    const outcomes = [outcomeOf(await turn('And now?')), outcomeOf(await turn('And then?'))];
    if (has) expect(outcomes).toEqual(['completed', 'completed']);
    else expect(outcomes[0]).toMatch('bound to a different conversation');
    expect(received.slice(-2).map(({ status, signatures }) => [status, signatures.length])).toEqual(
      has
        ? [
            [200, 0],
            [200, 1],
          ]
        : [
            [400, 2],
            [400, 2],
          ],
    );
  });
});
