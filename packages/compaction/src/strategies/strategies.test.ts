import { repairHistory, toolCallsOf, type Message } from '@h/turn';
import { call, user } from '@h/turn/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compactWith, tokensOf } from '../../test/contexts.js';
import { conversation } from '../../test/conversations.js';
import { nativeHistories } from '../../test/histories.js';
import type { BuiltInStrategy } from '../strategy.js';

const { messages, firstAsk, lastAsk } = conversation();
const contents = (given: readonly Message[]): readonly unknown[] => given.map(({ content }) => content);
const resultOf = (id: string, toolName: string, value: string): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: id, toolName, output: { type: 'text', value } }],
});
const loadSkill: readonly Message[] = [
  { role: 'assistant', content: [call('skill-1', 'skill', { name: 'deploy' })] },
  resultOf('skill-1', 'skill', 'How to deploy: …'.repeat(20)),
];
const withSkill = [...messages.slice(0, 3), ...loadSkill, ...messages.slice(3)];

describe.each<BuiltInStrategy>(['sliding-window', 'compact', 'clear-tool-results', 'summarize'])(
  'the strategy %s',
  (strategy) => {
    const options = { strategy, summarize: () => 'A report.' };

    it('makes a long history small enough, with every call and its result together', async () => {
      expect(messages.length).toBeGreaterThan(300);
      const result = await compactWith(messages, options);
      expect(result.worked).toEqual([strategy]);
      expect(tokensOf(result.messages)).toBeLessThan(tokensOf(messages) / 2);
      expect(repairHistory(result.messages).repairs).toEqual([]);
    });

    it('keeps the open request of the user word by word', async () => {
      expect(contents((await compactWith(messages, options)).messages)).toContain(lastAsk);
      const alone = [user('Do it, and mention "x-17".'), ...messages.slice(3, -4)];
      const result = await compactWith(alone, options);
      expect(contents(result.messages).filter((content) => content === 'Do it, and mention "x-17".')).toHaveLength(1);
    });

    it('leaves the newest messages as they are, by identity', async () => {
      const result = await compactWith(messages, options);
      expect(result.messages.slice(-10).every((message, index) => message === messages.slice(-10)[index])).toBe(true);
    });

    it('keeps the results of protected tools', async () => {
      const result = await compactWith(withSkill, options);
      expect(contents(result.messages)).toEqual(expect.arrayContaining(contents(loadSkill) as unknown[]));
      const without = await compactWith(withSkill, { ...options, protectedTools: [] });
      expect(JSON.stringify(without.messages)).not.toContain('How to deploy: …How to deploy');
    });

    it('separates no call from its result, whatever the history', async () => {
      await fc.assert(
        fc.asyncProperty(nativeHistories(40), async (history) => {
          const result = await compactWith(
            history.messages,
            options,
            { targetTokens: 300, protectTokens: 100 },
            { goalTokens: 300, maxTokens: 100_000 },
          );
          const problems = (given: readonly Message[]): number => repairHistory(given).repairs.length;
          expect(problems(result.messages)).toBeLessThanOrEqual(problems(history.messages));
          const ids = new Set(result.messages.flatMap(toolCallsOf).map(({ toolCallId }) => toolCallId));
          expect(ids.size).toBeLessThanOrEqual(history.messages.length * 4);
        }),
        { numRuns: 100 },
      );
    });

    it('begins with the user, where the history did', async () => {
      const answered = [...messages.slice(0, -4), ...messages.slice(3, -4)];
      for (const targetTokens of [3_000, 6_000, 9_000]) {
        const { messages: result } = await compactWith(answered, options, {
          targetTokens,
          protectTokens: targetTokens / 3,
        });
        expect(result.find(({ role }) => role !== 'system')?.role).toBe('user');
      }
    });

    it('says so when there is nothing to do', async () => {
      const { worked, failures } = await compactWith([user('Hi')], options, { targetTokens: 5_000 });
      expect(worked).toEqual([]);
      expect(failures).toMatchObject([{ strategy, reason: 'nothing-to-compact' }]);
    });
  },
);

describe('sliding-window', () => {
  it('keeps as many of the newest messages as fit, and earlier summaries', async () => {
    const options = { strategy: 'sliding-window' as const };
    const small = await compactWith(messages, options, { targetTokens: 5_000 });
    const large = await compactWith(messages, options, { targetTokens: 15_000 });
    expect(tokensOf(small.messages)).toBeLessThan(7_600);
    expect(large.messages.length).toBeGreaterThan(small.messages.length * 2);
    const summarized = await compactWith(messages, { strategy: 'summarize', summarize: () => 'A report on it.' });
    const [summary] = summarized.messages;
    const again = await compactWith([...summarized.messages, ...messages.slice(3)], options, { targetTokens: 5_000 });
    expect(again.messages[0]).toBe(summary);
  });
});

describe('compact', () => {
  const options = { strategy: 'compact' as const, keepMessages: 10 };

  it('keeps the first message and the last ones, with a marker that counts what is missing', async () => {
    const { messages: result } = await compactWith(messages, options);
    expect(result[0]).toBe(messages[0]);
    expect(result[0]?.content).toBe(firstAsk);
    expect(result[1]).toMatchObject({ role: 'user', metadata: { internal: true, kind: 'left-out' } });
    const left = messages.length - (result.length - 1);
    expect(result[1]?.content).toContain(`${left} messages of this conversation were left out`);
    expect(result.length).toBeLessThanOrEqual(13);
  });

  it('takes an earlier marker up into the new one', async () => {
    const first = await compactWith(messages, options);
    const longer = [...first.messages, ...messages.slice(3, 103)];
    const second = await compactWith(longer, options);
    const markers = second.messages.filter(({ metadata }) => metadata?.kind === 'left-out');
    expect(markers).toHaveLength(1);
    const total = messages.length + 100 - (second.messages.length - 1);
    expect(markers[0]?.content).toContain(`${total} messages`);
  });

  it('keeps fewer messages when they do not fit', async () => {
    const few = await compactWith(messages, { strategy: 'compact', keepMessages: 200 }, { targetTokens: 3_000 });
    expect(tokensOf(few.messages)).toBeLessThan(3_500);
  });
});

describe('clear-tool-results', () => {
  const options = { strategy: 'clear-tool-results' as const };
  const cleared = (given: readonly Message[]): readonly boolean[] =>
    given
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => JSON.stringify(content).includes('Cleared to save space'));

  it('clears the oldest results first, and no more than it takes', async () => {
    const all = tokensOf(messages);
    const { messages: result } = await compactWith(
      messages,
      options,
      { targetTokens: all * 0.7 },
      { goalTokens: all, maxTokens: all },
    );
    const flags = cleared(result);
    const last = flags.lastIndexOf(true);
    expect(last).toBeGreaterThan(10);
    expect(last).toBeLessThan(flags.length - 50);
    expect(tokensOf(result)).toBeLessThan(all * 0.7);
    expect(tokensOf(result)).toBeGreaterThan(all * 0.66);
  });

  it('gives the same bytes when it is applied again', async () => {
    const { messages: once } = await compactWith(messages, options);
    const { messages: twice } = await compactWith(
      once,
      options,
      { targetTokens: 10 },
      { goalTokens: 10, maxTokens: 1e6 },
    );
    const places = cleared(once).flatMap((flag, index) => (flag ? [index] : []));
    const toolsOf = (given: readonly Message[]): readonly string[] =>
      given.filter(({ role }) => role === 'tool').map((message) => JSON.stringify(message));
    for (const place of places) expect(toolsOf(twice)[place]).toBe(toolsOf(once)[place]);
  });

  it('clears nothing twice', async () => {
    const [ask, calls, , ...rest] = messages as [Message, Message, ...Message[]];
    const given = [
      ask,
      { role: 'assistant' as const, content: [call('x', 'read')] },
      resultOf('x', 'read', 'word '.repeat(5_000)),
      calls,
      ...rest,
    ];
    const { messages: once } = await compactWith(given, options);
    const { messages: twice } = await compactWith(
      once,
      options,
      { targetTokens: 10 },
      { goalTokens: 10, maxTokens: 1e6 },
    );
    expect(JSON.stringify(once[2])).toContain('Cleared to save space: the result of this call, about 5');
    expect(twice[2]).toBe(once[2]);
  });

  it('leaves what is no longer than its note', async () => {
    const { messages: result } = await compactWith(
      messages,
      options,
      { targetTokens: 100 },
      { goalTokens: 100, maxTokens: 1e6 },
    );
    expect(JSON.stringify(result)).toContain('"edited"');
  });
});
