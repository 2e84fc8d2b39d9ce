import { harness, reply } from '@h/turn';
import { scriptedModel } from '@h/turn/testing';
import fc from 'fast-check';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { runTurn } from '../../test/turns.js';
import { hooks } from '../hooks.js';
import { reflect, reflection, type ReflectionOptions, type ReflectionVerdict } from './reflection.js';

const revise: ReflectionVerdict = { verdict: 'revise', feedback: 'Name the file.' };
const accept: ReflectionVerdict = { verdict: 'accept' };
const run = (options: ReflectionOptions, script: readonly string[] = ['Draft.', 'Better.', 'Best.']) =>
  runTurn([hooks([reflection(options)])], { script });

describe('reflection', () => {
  it('accepts a good draft', async () => {
    const ran = await run({ judge: ({ text }) => (text === 'Draft.' ? accept : revise) });
    expect(ran.transcript).toEqual(['user: Continue.', 'assistant: Draft.']);
  });

  it('sends a draft back once, with feedback', async () => {
    const seen: string[] = [];
    const ran = await run({
      judge: async ({ text }) => {
        seen.push(text);
        return revise;
      },
    });
    expect(seen).toEqual(['Draft.']);
    expect(ran.transcript).toEqual([
      'user: Continue.',
      'assistant: Draft.',
      expect.stringMatching(/^user: A review .*\n\nName the file\.$/s),
      'assistant: Better.',
    ]);
    expect(ran.end.outcome).toBe('completed');
  });

  it('sends drafts back up to the limit, with a custom prompt', async () => {
    const ran = await run({ judge: () => revise, maxSendBacks: 2, prompt: 'Again:' });
    expect(ran.transcript.filter((line) => line.startsWith('user: Again:'))).toHaveLength(2);
    expect((await run({ judge: () => revise, maxSendBacks: 0 })).transcript).toHaveLength(2);
  });

  it.each<[string, Partial<ReflectionOptions>, string]>([
    ['too few tokens are left', { remaining: () => ({ tokens: 1999 }) }, 'budget'],
    ['too few tokens for its own measure are left', { remaining: () => ({ tokens: 5 }), minTokens: 6 }, 'budget'],
    ['too little time is left', { remaining: () => ({ timeMs: 4999 }) }, 'deadline'],
    ['too little time for its own measure is left', { remaining: () => ({ timeMs: 50 }), minTimeMs: 60 }, 'deadline'],
    ['the judge takes too long', { judge: () => new Promise(() => {}), timeoutMs: 10 }, 'deadline'],
    [
      'the judge takes longer than what is left',
      { judge: () => new Promise(() => {}), remaining: () => ({ timeMs: 10 }), minTimeMs: 1 },
      'deadline',
    ],
    [
      'the judge throws',
      {
        judge: () => {
          throw new Error('No model.');
        },
      },
      'failed',
    ],
    ['the judge rejects', { judge: () => Promise.reject(new Error('No model.')) }, 'failed'],
    ['the judge returns an invalid verdict', { judge: (() => ({ verdict: 'revise' })) as never }, 'failed'],
    [
      'without a budget',
      {
        remaining: () => {
          throw new Error('No budget.');
        },
      },
      'failed',
    ],
  ])('is skipped with a notice when %s', async (_what, options, why) => {
    const ran = await run({ judge: () => revise, ...options });
    expect(ran.transcript).toEqual(['user: Continue.', 'assistant: Draft.']);
    expect(ran.end.outcome).toBe('completed');
    expect(ran.of('hook.notice')).toMatchObject([{ hook: 'reflection', details: { why } }]);
  });

  it('passes the remaining budget to the judge, and aborts it after the time limit', async () => {
    const scheduler = new VirtualTimeScheduler();
    let aborted = false;
    const judge = vi.fn<ReflectionOptions['judge']>((_draft, { signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      return new Promise(() => {});
    });
    const result = reflect(
      { text: 'x', messages: [], sentBack: 0 },
      { judge, scheduler, remaining: () => ({ tokens: 3000, timeMs: 20_000 }) },
    );
    await vi.waitFor(() => expect(judge).toHaveBeenCalled());
    expect(judge.mock.calls[0]?.[1]).toMatchObject({ tokens: 3000, timeMs: 20_000 });
    scheduler.flush();
    expect(scheduler.frame).toBe(20_000);
    expect(await result).toMatchObject({ verdict: 'skipped', why: 'deadline' });
    expect(aborted).toBe(true);
  });

  it('aborts the judge when the turn ends', async () => {
    let aborted = false;
    const stopper = new AbortController();
    const judge: ReflectionOptions['judge'] = (_draft, { signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      setTimeout(() => stopper.abort(), 5);
      return new Promise(() => {});
    };
    const agent = harness({ model: scriptedModel(['Draft.']), closeGraceMs: 50 }).pipe(hooks([reflection({ judge })]));
    expect((await reply(agent.turn({ session: 's', input: 'Go', signal: stopper.signal }))).outcome).toBe('cancelled');
    expect(aborted).toBe(true);
  });

  it('always returns a result, for any behavior of the judge', async () => {
    const answer = fc.anything();
    await fc.assert(
      fc.asyncProperty(answer, fc.boolean(), async (value, throws) => {
        const judge = (() => {
          if (throws) throw value;
          return value;
        }) as never;
        const { verdict } = await reflect({ text: 'x', messages: [], sentBack: 0 }, { judge, timeoutMs: 20 });
        expect(['accept', 'revise', 'skipped']).toContain(verdict);
      }),
      { numRuns: 100 },
    );
  });

  it.each([{}, { judge: 'me' }, { judge: () => accept, maxSendBacks: -1 }, { judge: () => accept, prompts: '' }])(
    'rejects %j',
    (options) => {
      expect(() => reflection(options as never)).toThrow(expect.objectContaining({ code: 'invalid-option' }) as Error);
    },
  );
});
