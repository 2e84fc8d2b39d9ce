import { compaction } from '@h/compaction';
import { exponentialBackoff, failover } from '@h/failover';
import { loopDetect } from '@h/loop-detect';
import { harness, memorySessions, reply, type Message } from '@h/turn';
import { failure, scriptedModel } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';

const history: readonly Message[] = Array.from({ length: 60 }, (_, index): Message => ({
  role: index % 2 === 0 ? 'user' : 'assistant',
  content: `${index}: ${'word '.repeat(200)}`,
}));
const overflow = {
  error: failure('prompt is too long: 213000 tokens > 200000 maximum', {
    status: 400,
    code: 'context_length_exceeded',
  }),
};
const overloaded = { error: failure('Overloaded', { status: 529 }) };

describe('a request to a model that is overloaded after a compaction', () => {
  it.each([[undefined], [1]])('is retried with the compacted history (delay %s)', async (delayMs) => {
    const model = scriptedModel([overflow, overloaded, overloaded, 'Done.'], delayMs === undefined ? {} : { delayMs });
    const agent = harness({ model, sessions: memorySessions({ alice: history }) }).pipe(
      failover({ backoff: exponentialBackoff({ initialMs: 1, jitter: 0 }) }),
      compaction({ strategy: 'compact' }),
      loopDetect(),
    );
    const { outcome, text } = await reply(agent.turn({ session: 'alice', input: 'Go on.' }));
    expect({ outcome, text }).toEqual({ outcome: 'completed', text: 'Done.' });
    const sizes = model.requests.map(({ messages }) => [...messages].length);
    expect(sizes[0]).toBe(61);
    expect(sizes[1]).toBeLessThan(30);
    expect(sizes.slice(2)).toEqual([sizes[1], sizes[1]]);
  });
});

describe('a request that is larger than the tokens that a minute allows', () => {
  it('is compacted to the limit that the provider names, although it was answered with 429', async () => {
    const tooLarge = {
      error: failure(
        'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 10000, Requested 13921. The input or output tokens must be reduced in order to run successfully.',
        { status: 429, code: 'rate_limit_exceeded' },
      ),
    };
    const model = scriptedModel([tooLarge, 'Done.']);
    const agent = harness({ model, sessions: memorySessions({ alice: history }) }).pipe(
      failover({ backoff: exponentialBackoff({ initialMs: 1, jitter: 0 }) }),
      compaction({ strategy: 'compact' }),
    );
    const { outcome, text } = await reply(agent.turn({ session: 'alice', input: 'Go on.' }));
    expect({ outcome, text }).toEqual({ outcome: 'completed', text: 'Done.' });
    const words = model.requests.map(({ messages }) => JSON.stringify([...messages]).split(' ').length);
    expect(words[0]).toBeGreaterThan(10_000);
    expect(words[1]).toBeLessThan(10_000);
  });
});
