import { describe, expect, it } from 'vitest';
import { askAgain } from './decisions.js';
import type { TurnEventOf } from './events.js';
import { harness } from './harness.js';
import { intercept } from './intercept.js';
import { reply } from './reply.js';
import { event, failure, request, scriptedModel } from './testing/index.js';

describe('askAgain', () => {
  const first = event('model.request', { step: 2, attempt: 1, ...request() });

  it('makes the next attempt of the same request', () => {
    expect(askAgain(first)).toEqual({ ...first, attempt: 2 });
  });

  it('counts on from what it answers, for an operator never sees what it inserted', async () => {
    const attempts: number[] = [];
    const retry = intercept('retry', () => {
      let asked: TurnEventOf<'model.request'> | undefined;
      return {
        observe: { 'model.request': (made) => void (asked = made) },
        decide: { 'model.error': (error) => asked && [{ ...error, retrying: true }, askAgain(asked, error)] },
      };
    });
    const watch = intercept('watch', () => ({
      observe: { 'model.request': ({ attempt }) => void attempts.push(attempt) },
    }));
    const busy = { error: failure('Overloaded', { status: 529 }) };
    const agent = harness({ model: scriptedModel([busy, busy, busy, 'At last.']) }).pipe(retry, watch);
    expect(await reply(agent.turn({ session: 's', input: 'Hi' }))).toMatchObject({
      outcome: 'completed',
      text: 'At last.',
      steps: 1,
    });
    expect(attempts).toEqual([1, 2, 3, 4]);
  });
});
