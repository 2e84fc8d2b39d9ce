import { harness, memorySessions, reply } from '@h/turn';
import { scriptedModel, user } from '@h/turn/testing';
import { describe, expect, it, vi } from 'vitest';
import { compaction } from './compaction.js';
import { createTokenCounter } from './counting/token-counter.js';

describe('the options of compaction', () => {
  it.each([
    [
      { treshold: 0.5 },
      /has no option "treshold" \(it was given 0\.5\); did you mean "threshold"\? It knows window, reserve, threshold, .*memory\.$/,
    ],
    [{ threshold: 1.5 }, /takes a number from 0 to 1 as "threshold"; it was given 1\.5\.$/],
    [{ threshold: Number.NaN }, /as "threshold"; it was given NaN\.$/],
    [{ window: 0 }, /takes a number from 1 or Infinity or a function as "window"; it was given 0\.$/],
    [{ reserve: -1 }, /as "reserve"; it was given -1\.$/],
    [{ protectTokens: '40k' }, /as "protectTokens"; it was given "40k"\.$/],
    [
      { strategy: 'sumarize' },
      /takes "sliding-window" or "compact" or "clear-tool-results" or "summarize" or a function .*"sumarize"\.$/,
    ],
    [{ strategy: ['compact', 'x'] }, /as "strategy\[1\]"; it was given "x"\.$/],
    [{ strategy: 'summarize' }, /needs the option "summarize" for the strategy "summarize"/],
    [{ summarize: 'model' }, /as "summarize"; it was given "model"\.$/],
    [{ maxAttempts: 0 }, /a whole number from 1 as "maxAttempts"; it was given 0\.$/],
    [{ maxCorrections: 0.5 }, /as "maxCorrections"; it was given 0\.5\.$/],
    [{ redact: true }, /as "redact"; it was given true\.$/],
    [{ protectedTools: 'skill' }, /a list of which each is a text as "protectedTools"; it was given "skill"\.$/],
    [{ keepMessages: -1 }, /as "keepMessages"; it was given -1\.$/],
    [{ counter: {} }, /an object with gauge\(\) and load\(\) and request\(\) as "counter"; it was given \{\}\.$/],
    [{ memory: {} }, /an object with get\(\) and set\(\) as "memory"; it was given \{\}\.$/],
    [[], /^compaction\(\) takes an object of options; it was given \[\]\.$/],
    [null, /^compaction\(\) takes an object of options; it was given null\.$/],
  ])('refuse %j', (options, message) => {
    expect(() => compaction(options as never)).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringMatching(message) as unknown }),
    );
  });

  it('take undefined for what is left out', () => {
    expect(() =>
      compaction({ window: undefined, strategy: undefined, summarize: undefined, memory: undefined }),
    ).not.toThrow();
  });

  it('take a counter that counts nothing again in the next turn', async () => {
    const counter = createTokenCounter();
    const reads = vi.fn(() => 'Hello '.repeat(100));
    const message = {
      role: 'user' as const,
      metadata: {},
      get content(): string {
        return reads();
      },
    };
    const sessions = memorySessions({ alice: [message, { role: 'assistant', content: 'Hi' }] });
    const turn = async (options: Parameters<typeof compaction>[0]): Promise<number> => {
      await reply(
        harness({ model: scriptedModel(['Done.']), sessions })
          .pipe()
          .turn({ session: 'alice', input: [user('x')] }),
      );
      const before = reads.mock.calls.length;
      await reply(
        harness({ model: scriptedModel(['Done.']), sessions })
          .pipe(compaction(options))
          .turn({ session: 'alice', input: 'Go on.' }),
      );
      return reads.mock.calls.length - before;
    };
    const first = await turn({ counter });
    expect(await turn({ counter })).toBeLessThan(first);
    expect(await turn({})).toBe(first);
  });
});
