import { describe, expect, it } from 'vitest';
import { retry } from './decisions.js';
import type { TurnOperator } from './events.js';
import { harness } from '../harness.js';
import { intercept } from '../operators/intercept.js';
import { memorySessions } from '../journal/memory-sessions.js';
import { reply } from '../reply.js';
import { failure, scriptedModel, user } from '../testing/index.js';

const busy = { error: failure('Overloaded', { status: 529 }) };
const tooLong = { error: failure('Too long.', { status: 413 }) };

const retryBusy = (): TurnOperator =>
  intercept('retry-busy', () => ({
    decide: { 'model.error': (event) => (event.error.status === 529 ? retry(event) : undefined) },
  }));

const shorten = (): TurnOperator =>
  intercept('shorten', () => ({
    decide: {
      'model.error': (event) =>
        event.error.status === 413
          ? [{ type: 'history.replace', messages: [user('In short.')], origin: 'operator' }, retry(event)]
          : undefined,
    },
  }));

describe('retry()', () => {
  it('sends the request again as the next attempt of the same step', async () => {
    const attempts: number[] = [];
    const watch = intercept('watch', () => ({
      observe: { 'model.request': ({ attempt }) => void attempts.push(attempt) },
    }));
    const agent = harness({ model: scriptedModel([busy, busy, busy, 'At last.']) }).pipe(watch, retryBusy());
    expect(await reply(agent.turn({ session: 's', input: 'Hi' }))).toMatchObject({
      outcome: 'completed',
      text: 'At last.',
      steps: 1,
    });
    expect(attempts).toEqual([1, 2, 3, 4]);
  });

  it.each([[undefined], [1]])('sends the history as an operator below has replaced it (delay %s)', async (delayMs) => {
    const long = { alice: [user('A long story.'), { role: 'assistant', content: 'Oh?' }] } as const;
    const model = scriptedModel([tooLong, busy, 'Done.'], delayMs === undefined ? {} : { delayMs });
    const agent = harness({ model, sessions: memorySessions(long) }).pipe(retryBusy(), shorten());
    const { outcome, text } = await reply(agent.turn({ session: 'alice', input: 'Go on.' }));
    expect({ outcome, text }).toEqual({ outcome: 'completed', text: 'Done.' });
    expect(model.requests.map(({ messages }) => [...messages].length)).toEqual([3, 1, 1]);
  });

  it('ends the turn when an operator keeps answering requests with retries', async () => {
    const endless = intercept('endless', () => ({
      decide: {
        'model.request': ({ step, attempt }) => ({
          type: 'model.error',
          step,
          attempt,
          error: failure('Never.'),
          retrying: true,
        }),
      },
    }));
    const agent = harness({ model: scriptedModel([]), maxModelCalls: 5 }).pipe(endless);
    expect(await reply(agent.turn({ session: 's', input: 'Hi' }))).toMatchObject({ outcome: 'max-steps', steps: 0 });
  });
});
