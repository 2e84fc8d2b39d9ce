import { concat, EMPTY, NEVER, Observable, of, throwError, type ObservableInput } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { slowSessions } from '../../test/slow-sessions.js';
import { expectEnded, expectSound, runTurn, watch } from '../../test/turns.js';
import { notice, proceed, retry, stop } from '../contract/decisions.js';
import type { TurnEventOf, TurnOperator } from '../contract/events.js';
import { harness } from '../harness.js';
import type { DecisionInput } from '../operators/handlers.js';
import { intercept } from '../operators/intercept.js';
import type { ModelDriver, ModelDriverOutput } from '../contract/model.js';
import type { PipelineOperator } from '../operators/pipeline.js';
import { call, failure, ok, request, response, scriptedModel, scriptedTools, usage, user } from '../testing/index.js';

const answer = (given: unknown): ModelDriverOutput => ({ type: 'response', response: given }) as ModelDriverOutput;
const delta = (text: string): ModelDriverOutput => ({ type: 'delta', delta: { type: 'text', text } });
const hello = answer(response('Hello.'));

const run = async (drive: () => unknown, ...operators: readonly PipelineOperator[]) => {
  const sessions = slowSessions();
  const model = vi.fn(drive as () => ObservableInput<ModelDriverOutput>);
  const watched = await runTurn(
    harness({ model: model as ModelDriver, sessions, maxModelCalls: 5 }).pipe(...operators),
  );
  expectEnded('', watched);
  expectSound('', sessions.journal('alice'), sessions.messages('alice'));
  return { watched, model, messages: sessions.messages('alice') };
};

describe('a model driver', () => {
  it.each<[string, () => unknown]>([
    ['an observable', () => of(delta('Hel'), delta('lo.'), hello)],
    ['a promise', () => Promise.resolve(hello)],
    ['a list', () => [delta('Hello.'), hello]],
    [
      'an async iterable',
      async function* () {
        yield delta('Hello.');
        yield await Promise.resolve(hello);
      },
    ],
    [
      'a stream',
      () =>
        new ReadableStream({
          start: (stream) => [delta('Hello.'), hello].forEach((output) => stream.enqueue(output)),
          pull: (stream) => stream.close(),
        }),
    ],
    [
      'an observable that emits after its answer',
      () => concat(of(hello, delta('more'), hello, { type: 'error', error: failure('late') }), NEVER),
    ],
    [
      'an observable that fails after its answer',
      () =>
        concat(
          of(hello),
          throwError(() => new Error('late')),
        ),
    ],
  ])('accepts %s', async (_, drive) => {
    const { watched, model, messages } = await run(drive);
    expect(watched.end).toMatchObject({ outcome: 'completed', steps: 1, usage: usage() });
    expect(watched.all('model.response')).toHaveLength(1);
    expect(watched.types).not.toContain('model.error');
    expect(watched.all('model.delta').map(({ delta: { text } }) => text)).not.toContain('more');
    expect(messages.at(-1)).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] });
    expect(model).toHaveBeenCalledOnce();
  });

  it.each<[string, () => unknown, object]>([
    [
      'an error',
      () =>
        of(delta('Hm'), {
          type: 'error',
          error: failure('Overloaded', { status: 529, headers: { 'retry-after': '3' } }),
        }),
      { message: 'Overloaded', status: 529, headers: { 'retry-after': '3' } },
    ],
    ['an end without an answer', () => of(delta('Hel')), { code: 'incomplete-stream' }],
    ['nothing', () => EMPTY, { code: 'incomplete-stream' }],
    [
      'an error notification',
      () => throwError(() => Object.assign(new Error('reset'), { code: 'ECONNRESET' })),
      { code: 'ECONNRESET', message: 'reset' },
    ],
    [
      'an error notification without an error',
      () => throwError(() => undefined),
      { message: 'The driver failed without an error value.' },
    ],
    ['a string instead of an error', () => throwError(() => 'no'), { name: 'Error', message: 'no' }],
    ['a rejection', () => Promise.reject(new TypeError('no')), { name: 'TypeError', message: 'no' }],
    [
      'nothing that can be subscribed to',
      () => 7,
      { code: 'invalid-input', message: expect.stringMatching(/^The driver returned 7; it must return an/) as string },
    ],
    ['undefined', () => undefined, { message: expect.stringMatching(/^The driver returned undefined;/) as string }],
    [
      'an answer that is not wrapped',
      () => of(response('x')),
      { message: expect.stringMatching(/^The model driver emitted an output of type undefined\./) as string },
    ],
    [
      'null',
      () => of(null),
      { code: 'invalid-input', message: expect.stringMatching(/^The driver emitted null/) as string },
    ],
    [
      'no answer',
      () => of(answer(undefined)),
      {
        code: 'invalid-input',
        message: expect.stringMatching(/^The model driver: "response" must be .*; received undefined/) as string,
      },
    ],
    [
      'something of another type',
      () => of({ type: 'shout' }),
      {
        message:
          'The model driver emitted an output of type "shout". It emits { type: "delta", delta }, { type: "response", response } and { type: "error", error }.',
      },
    ],
    [
      'an unknown finish reason',
      () => of(answer({ ...response('x'), finishReason: 'done' })),
      { message: expect.stringMatching(/"response\.finishReason" must be .*; received "done"/) as string },
    ],
    [
      'content that is no list',
      () => of(answer({ ...response('x'), content: 'x' })),
      { message: expect.stringMatching(/"response\.content" must be .*; received "x"/) as string },
    ],
    [
      'a part without its text',
      () => of(answer({ ...response('x'), content: [{ type: 'text' }] })),
      { message: expect.stringMatching(/"response\.content\[0\]\.text" is required/) as string },
    ],
    [
      'usage that is not a number',
      () => of(answer({ ...response('x'), usage: { ...usage(), output: Number.NaN } })),
      { message: expect.stringMatching(/"response\.usage\.output" must be/) as string },
    ],
    [
      'negative usage',
      () => of(answer({ ...response('x'), usage: { ...usage(), input: -1 } })),
      { message: expect.stringMatching(/"response\.usage\.input" must be .*; received -1/) as string },
    ],
    [
      'an error that says nothing',
      () => of({ type: 'error' }),
      {
        code: 'invalid-input',
        message: expect.stringMatching(/^The model driver: "output\.error/) as string,
      },
    ],
    ['an error that is a string', () => of({ type: 'error', error: 'bad' }), { code: 'invalid-input' }],
    [
      'an error with invalid usage',
      () => of({ type: 'error', error: failure('x'), usage: { input: 'many' } }),
      { message: expect.stringMatching(/"output\.usage\.input" must be .*; received "many"/) as string },
    ],
  ])('that emits %s fails the call once and ends the turn', async (_, drive, error) => {
    const { watched, model } = await run(drive);
    expect(watched.end).toMatchObject({ outcome: 'error', steps: 0, error });
    expect(watched.all('model.error')).toHaveLength(1);
    expect(model).toHaveBeenCalledOnce();
  });

  it('is unsubscribed, with its signal aborted, when the turn ends', async () => {
    let signal: AbortSignal | undefined;
    const left = vi.fn();
    const model: ModelDriver = (_, context) => {
      ({ signal } = context);
      return new Observable(() => left);
    };
    const watched = watch(harness({ model }).pipe().turn({ session: 'alice', input: 'Go.' }));
    await Promise.resolve();
    await Promise.resolve();
    expect(signal?.aborted).toBe(false);
    watched.subscription.unsubscribe();
    expect(signal?.aborted).toBe(true);
    expect(left).toHaveBeenCalledOnce();
  });

  it('is not called if the subscriber leaves before the microtask', async () => {
    const model = scriptedModel(['Hello.']);
    const watched = watch(harness({ model }).pipe().turn({ session: 'alice', input: 'Go.' }));
    expect(watched.types.at(-1)).toBe('model.request');
    watched.subscription.unsubscribe();
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(model.requests).toEqual([]);
  });

  it('receives the turn, the session, the step and the attempt', async () => {
    const contexts: unknown[] = [];
    const model = scriptedModel([
      (_, { turn, session, step, attempt }) => (
        contexts.push({ turn, session, step, attempt }),
        response(call('1', 'ls'))
      ),
      (_, { turn, session, step, attempt }) => (contexts.push({ turn, session, step, attempt }), 'Done.'),
    ]);
    await runTurn(harness({ model, tools: scriptedTools({ ls: 'a' }), newId: () => 'turn-7' }).pipe());
    expect(contexts).toEqual([1, 2].map((step) => ({ turn: 'turn-7', session: 'alice', step, attempt: 1 })));
  });

  it('receives a session without lone surrogates', async () => {
    const model = scriptedModel([response('a\ud800', call('1', 'ls', { path: '\udfff' })), 'Done.']);
    const tools = scriptedTools({ ls: () => 'b\udc00' });
    await runTurn(harness({ model, tools }).pipe());
    expect(JSON.stringify(model.requests[1]?.messages)).not.toMatch(/\\ud[89a-f]/i);
    expect(tools.ran[0]?.input).toEqual({ path: '\ufffd' });
  });
});

describe('a call that cannot run', () => {
  it('is answered invalid-input when its input is nested 5,000 deep, and the turn continues', async () => {
    let input: unknown = 'bottom';
    for (let level = 0; level < 5_000; level += 1) input = [input];
    const answers = [response(call('1', 'ls', input), call('2', 'ls')), response('Done.')];
    const model: ModelDriver = (_, { step }) => of(answer(answers[step - 1]));
    const tools = scriptedTools({ ls: 'a' });
    const sessions = slowSessions();
    const watched = await runTurn(harness({ model, tools, sessions }).pipe());
    expect(watched.all('tool.result').map(({ call: { id }, status }) => [id, status])).toEqual([
      ['1', 'invalid-input'],
      ['2', 'ok'],
    ]);
    expect(watched.end.outcome).toBe('completed');
    expect(() => JSON.stringify(sessions.messages('alice'))).not.toThrow();
  });

  it('takes linear time in the number of calls', async () => {
    const count = 8_000;
    const calls = Array.from({ length: count }, (_, index) => call(`call-${index}`, 'ls'));
    const model = scriptedModel([response(...calls), 'Done.']);
    const watched = await runTurn(harness({ model, tools: scriptedTools({ ls: 'a' }) }).pipe());
    expect(watched.all('tool.result')).toHaveLength(count);
    expect(watched.end.outcome).toBe('completed');
  });
});

describe('a retry', () => {
  const answering = (decide: (event: TurnEventOf<'model.error'>) => DecisionInput): TurnOperator =>
    intercept('answering', () => ({ decide: { 'model.error': decide } }));
  const failThen = (count: number) => {
    let calls = 0;
    return () =>
      calls++ < count ? of({ type: 'error', error: failure('Overloaded'), usage: usage(3, 0) }) : of(hello);
  };

  it('answers each request once, marks the failed one, and counts all usage', async () => {
    const { watched, model } = await run(failThen(2), answering(retry));
    expect(watched.all('model.request').map(({ step, attempt }) => [step, attempt])).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
    ]);
    expect(watched.all('model.error').map(({ attempt, retrying }) => [attempt, retrying])).toEqual([
      [1, true],
      [2, true],
    ]);
    expect(watched.end).toMatchObject({ outcome: 'completed', steps: 1, usage: { input: 16, output: 5 } });
    expect(model).toHaveBeenCalledTimes(3);
  });

  it('can wait: the error leaves marked and the request is held', async () => {
    const backoff = intercept('backoff', ({ after }) => ({
      decide: {
        'model.error': (event) => retry(event),
        'model.request': ({ attempt }) =>
          attempt > 1 ? new Promise((resolve) => after(1, () => resolve(undefined))) : undefined,
      },
    }));
    expect((await run(failThen(1), backoff)).watched.end.outcome).toBe('completed');
    const held = answering((event) => new Promise((resolve) => setTimeout(() => resolve(retry(event)), 1)));
    expect((await run(failThen(1), held)).watched.end.outcome).toBe('completed');
  });

  it('is rejected when it leaves the error unanswered', async () => {
    const { watched } = await run(
      failThen(1),
      answering(() => notice('event.ignored', { event: 'x', reason: '' })),
    );
    expect(watched.end).toMatchObject({
      outcome: 'error',
      error: { operator: 'answering', message: expect.stringMatching(/removed model\.error/) as string },
    });
  });

  it('ends at the cap of the turn, which counts these calls too', async () => {
    const { watched, model } = await run(failThen(1_000), answering(retry));
    expect(model).toHaveBeenCalledTimes(5);
    expect(watched.end).toMatchObject({
      outcome: 'max-steps',
      reason: expect.stringMatching(/made 5 model calls.*maxModelCalls/) as string,
    });
  });

  it('may change the request of the next attempt', async () => {
    const models: unknown[] = [];
    const switching = intercept('switching', () => ({
      decide: {
        'model.error': (event) => retry(event),
        'model.request': (event) => (event.attempt > 1 ? { ...event, model: 'other' } : undefined),
      },
      observe: { 'model.request': ({ model }) => void models.push(model) },
    }));
    await run(failThen(1), switching);
    expect(models).toEqual([undefined, 'other']);
  });
});

describe('an operator that replaces the model', () => {
  it('answers a request without calling the model', async () => {
    const cached = intercept('cached', () => ({
      decide: {
        'model.request': ({ step, attempt }) => ({
          type: 'model.response',
          step,
          attempt,
          ...response('From the cache.'),
        }),
      },
    }));
    const { watched, model, messages } = await run(() => of(hello), cached);
    expect(watched.end).toMatchObject({ outcome: 'completed', steps: 1 });
    expect(messages.at(-1)).toMatchObject({ content: [{ text: 'From the cache.' }] });
    expect(model).not.toHaveBeenCalled();
  });

  it('stops the model if it answers while the model runs', async () => {
    let isStopped = false;
    const early = intercept('early', ({ emit, after }) => ({
      observe: {
        'model.request': ({ step, attempt }) => {
          after(1, () => emit({ type: 'model.response', step, attempt, ...response('From the cache.') }));
        },
        'history.append': ({ origin }) => {
          if (origin === 'response') expect(isStopped).toBe(true);
        },
      },
    }));
    const { watched } = await run(() => new Observable(() => () => (isStopped = true)), early);
    expect(watched.end).toMatchObject({ outcome: 'completed', steps: 1 });
  });

  it('fails a request without calling the model', async () => {
    const failing = intercept('failing', () => ({
      decide: {
        'model.request': ({ step, attempt }) => ({
          type: 'model.error',
          step,
          attempt,
          error: failure('No key left.'),
        }),
      },
    }));
    const { watched, model } = await run(() => of(hello), failing);
    expect(watched.end).toMatchObject({ outcome: 'error', reason: 'No key left.', error: { message: 'No key left.' } });
    expect(model).not.toHaveBeenCalled();
  });

  it('replies without a model', async () => {
    const replying = intercept('replying', () => ({
      decide: {
        'model.request': () => [
          { type: 'history.append', origin: 'replying', messages: [{ role: 'assistant', content: 'We are closed.' }] },
          stop('replied'),
        ],
      },
    }));
    const { watched, messages } = await run(() => of(hello), replying);
    expect(watched.end).toMatchObject({ outcome: 'replied', steps: 0 });
    expect(messages).toEqual([user('Go.'), { role: 'assistant', content: 'We are closed.' }]);
  });

  it('turns a failure into an answer, or an answer into a failure', async () => {
    const repaired = intercept('repaired', () => ({
      decide: {
        'model.error': ({ step, attempt }) => ({ type: 'model.response', step, attempt, ...response('Sorry.') }),
      },
    }));
    expect((await run(() => throwError(() => new Error('x')), repaired)).watched.end.outcome).toBe('completed');
    const refuse = intercept('refuse', () => ({
      decide: {
        'model.response': ({ step, attempt }) => ({
          type: 'model.error',
          step,
          attempt,
          error: failure('Not like that.'),
        }),
      },
    }));
    expect((await run(() => of(hello), refuse)).watched.end).toMatchObject({
      outcome: 'error',
      reason: 'Not like that.',
    });
  });

  it('continues after a failure instead of ending', async () => {
    let calls = 0;
    const again = intercept('again', () => ({
      decide: {
        'turn.stop': (event) =>
          event.outcome === 'error' && calls < 2 ? proceed([user('Try again.')], 'It failed.') : undefined,
      },
    }));
    const { watched, messages } = await run(
      () => (calls++ === 0 ? throwError(() => new Error('x')) : of(hello)),
      again,
    );
    expect(watched.end.outcome).toBe('completed');
    expect(messages).toEqual([
      user('Go.'),
      user('Try again.'),
      { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
    ]);
  });

  it('causes event.ignored with an unexpected answer', async () => {
    const shouting = intercept('shouting', ({ emit }) => ({
      observe: {
        'history.append': ({ origin }) => {
          if (origin !== 'response') return;
          emit({ type: 'model.response', step: 1, attempt: 1, ...response('Second answer.') });
          emit({ type: 'tool.result', step: 1, call: { id: '9', name: 'ls', input: {} }, ...ok('x') });
          emit({ type: 'tool.call', step: 1, index: 9, call: { id: '9', name: 'ls', input: {} } });
          emit({ type: 'model.request', step: 1, attempt: 1, ...request() });
        },
      },
    }));
    const { watched, model } = await run(() => of(hello), shouting);
    expect(watched.all('event.ignored').map(({ event }) => event)).toEqual([
      'model.response',
      'tool.result',
      'tool.call',
      'model.request',
    ]);
    expect(watched.end).toMatchObject({ outcome: 'completed', steps: 1 });
    expect(model).toHaveBeenCalledOnce();
  });
});
