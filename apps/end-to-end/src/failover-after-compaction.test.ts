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
