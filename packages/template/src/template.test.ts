import { harness, reply, type TurnEventOf } from '@h/turn';
import { InvalidOptionError } from '@h/options';
import { call, event, failure, ok, request, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { describeOperator, marbles } from '@h/turn/vitest';
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { template } from './template.js';

const result = (status: 'ok' | 'failed'): TurnEventOf<'tool.result'> =>
  event('tool.result', {
    step: 1,
    call: { id: '1', name: 'noop', input: {} },
    ...(status === 'ok' ? ok('done') : { status, output: { type: 'error-text', value: 'No.' }, error: failure('No.') }),
  });

const events = {
  o: result('ok'),
  f: result('failed'),
  r: event('model.request', { step: 2, attempt: 1, ...request() }),
  n: event('template.near', { failures: 1, maxFailures: 2 }),
  s: event('turn.stop', { outcome: 'error', reason: '2 tool calls in a row have failed.' }),
};

describe('template', () => {
  it('stops the turn before the next model call', () => {
    marbles(({ turn, expectObservable }) => {
      const source = '  f----f-r|';
      const expected = '(fn)-f-s|';
      expectObservable(turn(source, events).pipe(template({ maxFailures: 2 }))).toBe(expected, events);
    });
  });

  it('restarts the count after a success', () => {
    marbles(({ turn, expectObservable }) => {
      const source = '  f----o-f----r|';
      const expected = '(fn)-o-(fn)-r|';
      expectObservable(turn(source, events).pipe(template({ maxFailures: 2 }))).toBe(expected, events);
    });
  });

  it('leaves a complete transcript', async () => {
    const model = scriptedModel([response(call('1', 'break')), response(call('2', 'break')), 'Never said.']);
    const tools = scriptedTools({
      break: () => {
        throw new Error('It broke.');
      },
    });
    const agent = harness({ model, tools }).pipe(template({ maxFailures: 2 }));
    const { outcome, reason, messages } = await reply(agent.turn({ session: 'alice', input: 'Go on.' }));
    expect({ outcome, reason }).toEqual({ outcome: 'error', reason: '2 tool calls in a row have failed.' });
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool']);
    expect(model.requests).toHaveLength(2);
  });

  it('emits a notice one failure before', async () => {
    const model = scriptedModel([response(call('1', 'missing')), 'Then not.']);
    const agent = harness({ model }).pipe(template({ maxFailures: 2 }));
    const all = await lastValueFrom(agent.turn({ session: 'alice', input: 'Go on.' }).pipe(toArray()));
    expect(all.filter(({ type }) => type === 'template.near')).toMatchObject([{ failures: 1, maxFailures: 2 }]);
  });

  it.each([{ maxFailures: 0 }, { maxFailures: 1.5 }, { maxFailures: Number.NaN }, { maxFailure: 3 }])(
    'rejects %j',
    (options) => {
      expect(() => template(options)).toThrow(InvalidOptionError);
    },
  );
});

describeOperator(() => template());
