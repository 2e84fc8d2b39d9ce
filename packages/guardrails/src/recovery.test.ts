import { harness, reply, textOf, type TurnEvent, type TurnEventOf } from '@h/turn';
import { call, event, request, response, scriptedModel, scriptedTools, type ScriptStep } from '@h/turn/testing';
import { marbles } from '@h/turn/vitest';
import { filter, map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { cut, run, type Ran } from '../test/turns.js';
import { guardrails } from './guardrails.js';
import { recoveryKind } from './truncation-recovery.js';

const shown = ({ of }: Ran): string =>
  of('model.delta')
    .map(({ delta }) => (delta.type === 'text' ? delta.text : ''))
    .join('');

describe('an answer that was cut off at the output limit', () => {
  it('continues in the next step and reads as one answer', async () => {
    const result = await run([cut('It was the best of times, '), 'it was the worst of times.']);
    expect(result).toMatchObject({
      outcome: 'completed',
      steps: 2,
      text: 'It was the best of times, it was the worst of times.',
    });
    expect(result.of('truncation.recovered')).toMatchObject([{ step: 1, recovery: 1, maxRecoveries: 2 }]);
  });

  it('is asked for with a message that no person has written', async () => {
    const { model, transcript } = await run([cut('One, '), 'two.']);
    expect(transcript.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(transcript[2]?.metadata).toEqual({ internal: true, kind: recoveryKind });
    expect(model.requests[1]?.messages.at(-1)).toEqual(transcript[2]);
  });

  it('continues twice by default, then ends with what is there', async () => {
    const result = await run([cut('One, '), cut('two, '), cut('three, '), 'never.']);
    expect(result).toMatchObject({
      outcome: 'completed',
      steps: 3,
      text: 'One, two, three, ',
      reason: 'The model stopped with the finish reason length.',
    });
    expect(result.of('truncation.given-up')).toMatchObject([{ step: 3, why: 'used-up' }]);
  });

  it.each([0, 1, 3])('continues %i times if allowed', async (maxTokensRecoveries) => {
    const { steps } = await run([cut('a, '), cut('b, '), cut('c, '), cut('d, '), 'e'], { maxTokensRecoveries });
    expect(steps).toBe(maxTokensRecoveries + 1);
  });

  it('counts again for every message of the user', async () => {
    const script: ScriptStep[] = [cut('a, '), cut('b, '), 'c', cut('d, '), cut('e, '), 'f'];
    const model = scriptedModel(script);
    const agent = harness({ model }).pipe(guardrails());
    let isSteered = false;
    const turn$ = agent.turn({ session: 'alice', input: 'Go.' });
    const events: TurnEvent[] = [];
    await new Promise<void>((resolve) => {
      turn$.subscribe({
        next: (given) => {
          events.push(given);
          if (given.type !== 'model.request' || given.step !== 3 || isSteered) return;
          isSteered = true;
          agent.steer('alice', 'And more.');
        },
        complete: resolve,
      });
    });
    expect(model.requests).toHaveLength(6);
    expect((await reply(agent.turn({ session: 'bob', input: 'Hi' }))).outcome).toBe('error');
  });

  it('does not continue an empty answer', async () => {
    for (const answer of [cut(), cut(''), cut(' \n'), cut({ type: 'reasoning', text: 'Hmm, let me think about …' })]) {
      const result = await run([answer, 'never']);
      expect(result).toMatchObject({ outcome: 'completed', steps: 1 });
      expect(result.of('truncation.given-up')).toMatchObject([{ why: 'empty' }]);
    }
  });

  it('does not continue without a limit to spare, and reports why', async () => {
    const result = await run([cut('One, '), 'two.'], { maxSteps: 1 });
    expect(result).toMatchObject({ outcome: 'completed', steps: 1, text: 'One, ' });
    expect(result.of('truncation.given-up')).toMatchObject([{ why: 'no-allowance' }]);
  });

  it('is not asked to sum up while it continues', async () => {
    const { outcome, model } = await run([cut('One, '), 'two.'], { maxSteps: 2 });
    expect(outcome).toBe('completed');
    expect(model.requests[1]).toMatchObject({ tail: [], settings: { toolChoice: 'none' } });
  });

  it('is warned of a near limit after it has continued', async () => {
    const { model } = await run([cut('One, '), response('two.', call('1', 'ls')), 'Done.'], {
      maxSteps: 9,
      reserveSteps: 9,
    });
    expect(model.requests.map(({ tail }) => tail[0]?.metadata?.kind)).toEqual([undefined, undefined, 'budget-near']);
  });

  it('runs no truncated call, and gives up when truncations continue', async () => {
    const tools = scriptedTools({ write: 'ok' });
    const result = await run(
      Array.from({ length: 9 }, () => cut('Now', call('1', 'write', { text: 'half' }))),
      {},
      { tools },
    );
    expect(tools.ran).toHaveLength(0);
    expect(result).toMatchObject({
      outcome: 'budget-exceeded',
      steps: 3,
      reason: '3 answers with tool calls were truncated at the output limit; at most 2 are continued.',
    });
    expect(result.of('tool.result').every(({ status }) => status === 'skipped')).toBe(true);
  });

  it('leaves calls that were cut off to the runner where recovery is off', async () => {
    const { steps, outcome } = await run([...Array.from({ length: 6 }, () => cut('Now', call('1', 'ls'))), 'Done.'], {
      maxTokensRecoveries: 0,
    });
    expect({ steps, outcome }).toEqual({ steps: 7, outcome: 'completed' });
  });
});

describe('the seam', () => {
  const said = 'The first line of the list.\nThe second line of the li';

  it.each<readonly [string, string, string]>([
    ['the line that was begun', 'The second line of the list.\nThe third.', 'st.\nThe third.'],
    ['all of it', `${said}st.\nThe third.`, 'st.\nThe third.'],
    ['nothing', 'st.\nThe third.', 'st.\nThe third.'],
  ])('shows and stores nothing twice where the model repeats %s', async (_, next, rest) => {
    for (const delayMs of [undefined, 5]) {
      const result = await run([cut(said), next], {}, { delayMs });
      expect(result.text).toBe(said + rest);
      expect(shown(result)).toBe(said + rest);
      expect(result.transcript.map(textOf).join('')).toContain(said);
    }
  });

  it('knows a repeat of what was said before it was cut off again', async () => {
    const result = await run([cut('It was the best of times, '), cut('it was '), 'best of times, it was the worst.']);
    expect(result.text).toBe('It was the best of times, it was the worst.');
    expect(shown(result)).toBe(result.text);
  });

  it('shows what was held back when nothing more comes', async () => {
    const result = await run([cut(said), 'The second line']);
    expect(shown(result)).toBe(result.text);
    expect(result.text).toBe(`${said}The second line`);
  });

  it('removes an answer that only repeats', async () => {
    const result = await run([cut(said), 'The second line of the li']);
    expect(result).toMatchObject({ text: said, outcome: 'completed' });
    expect(shown(result)).toBe(said);
  });

  it('forgets what a failed attempt had said', () => {
    marbles(({ turn, expectObservable }) => {
      const delta = (text: string, attempt: number): TurnEvent =>
        event('model.delta', { step: 2, attempt, delta: { type: 'text', text } });
      const events = {
        a: event('model.request', { step: 1, attempt: 1, ...request() }),
        b: event('model.response', { step: 1, attempt: 1, ...cut(said) }),
        s: event('turn.stop', { outcome: 'completed', afterStep: 1 }),
        r: event('model.request', { step: 2, attempt: 1, ...request() }),
        x: delta('The second ', 1),
        f: event('model.error', {
          step: 2,
          attempt: 1,
          error: { name: 'Error', message: 'Lost.' },
          retrying: true,
          usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
        }),
        y: delta('The second line of the list.', 2),
        d: event('model.response', { step: 2, attempt: 2, ...response('The second line of the list.') }),
      };
      const shown$ = turn('abs-rxfyd|', events).pipe(
        guardrails(),
        filter((given) => (given.type === 'model.delta' || given.type === 'model.response') && given.step === 2),
        map((given) => (given.type === 'model.response' ? given.content : (given as TurnEventOf<'model.delta'>).delta)),
      );
      expectObservable(shown$).toBe('-------yd|', {
        y: { type: 'text', text: 'st.' },
        d: [{ type: 'text', text: 'st.' }],
      });
    });
  });
});
