import { harness, memorySessions, reply } from '@h/turn';
import { scriptedModel, user } from '@h/turn/testing';
import { describe, expect, it, vi } from 'vitest';
import { compaction } from './compaction.js';
import { createTokenCounter } from './counting/token-counter.js';

describe('the options of compaction', () => {
  it.each([
    [
      { treshold: 0.5 },
      /unknown option "treshold" \(received 0\.5\)\. Did you mean "threshold"\? Known options: window, reserve, threshold, .*memory\.$/,
    ],
    [{ threshold: 1.5 }, /"threshold" must be a number from 0 to 1; received 1\.5\.$/],
    [{ threshold: Number.NaN }, /"threshold" must be .*; received NaN\.$/],
    [{ window: 0 }, /"window" must be a number from 1 or Infinity or a function; received 0\.$/],
    [{ reserve: -1 }, /"reserve" must be .*; received -1\.$/],
    [{ protectTokens: '40k' }, /"protectTokens" must be .*; received "40k"\.$/],
    [
      { strategy: 'sumarize' },
      /"strategy" must be "sliding-window" or "compact" or "clear-tool-results" or "summarize" or a function .*"sumarize"\.$/,
    ],
    [{ strategy: ['compact', 'x'] }, /"strategy\[1\]" must be .*; received "x"\.$/],
    [{ strategy: 'summarize' }, /needs the option "summarize" for the strategy "summarize"/],
    [{ summarize: 'model' }, /"summarize" must be .*; received "model"\.$/],
    [{ maxAttempts: 0 }, /"maxAttempts" must be an integer from 1; received 0\.$/],
    [{ maxCorrections: 0.5 }, /"maxCorrections" must be .*; received 0\.5\.$/],
    [{ redact: true }, /"redact" must be .*; received true\.$/],
    [
      { protectedTools: 'skill' },
      /"protectedTools" must be an array in which each item is a string; received "skill"\.$/,
    ],
    [{ keepMessages: -1 }, /"keepMessages" must be .*; received -1\.$/],
    [{ counter: {} }, /"counter" must be an object with gauge\(\) and load\(\) and request\(\); received \{\}\.$/],
    [{ memory: {} }, /"memory" must be an object with get\(\) and set\(\); received \{\}\.$/],
    [[], /^compaction\(\): options must be an object; received \[\]\.$/],
    [null, /^compaction\(\): options must be an object; received null\.$/],
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
          .turn({ session: 'alice', input: 'Continue.' }),
      );
      return reads.mock.calls.length - before;
    };
    const first = await turn({ counter });
    expect(await turn({ counter })).toBeLessThan(first);
    expect(await turn({})).toBe(first);
  });
});
