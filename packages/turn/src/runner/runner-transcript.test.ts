import { describe, expect, it } from 'vitest';
import { slowSessions } from '../../test/slow-sessions.js';
import { expectEnded, expectSound, resultTexts, runTurn } from '../../test/turns.js';
import { stop } from '../contract/decisions.js';
import type { NewEvent, TurnEvent, TurnOperator } from '../contract/events.js';
import { harness } from '../harness.js';
import { intercept } from '../operators/intercept.js';
import type { Message } from '../contract/messages.js';
import { reply } from '../reply.js';
import { call, response, scriptedModel, scriptedTools, user, type ScriptStep } from '../testing/index.js';

const run = async (
  operators: readonly TurnOperator[],
  script: readonly ScriptStep[] = [response(call('1', 'ls'), call('2', 'ls')), 'Done.'],
) => {
  const sessions = slowSessions();
  const model = scriptedModel(script);
  const watched = await runTurn(
    harness({ model, tools: scriptedTools({ ls: 'a.txt' }), sessions, closeGraceMs: 20 }).pipe(...operators),
  );
  expectEnded('', watched);
  expectSound('', sessions.journal('alice'), sessions.messages('alice'));
  return { watched, model, messages: sessions.messages('alice') };
};

const beside = (
  type: TurnEvent['type'],
  added: NewEvent,
  when: (event: TurnEvent) => boolean = () => true,
): TurnOperator => {
  const decide = (event: TurnEvent): readonly NewEvent[] | undefined => (when(event) ? [event, added] : undefined);
  return intercept('beside', () => ({ decide: { [type]: decide } }));
};
const append = (...messages: readonly Message[]): NewEvent => ({ type: 'history.append', origin: 'note', messages });
const line = (messages: readonly Message[]): string =>
  messages
    .map(({ role, content }) =>
      typeof content === 'string'
        ? `${role}: ${content}`
        : `${role} ${content.map((part) => ('toolCallId' in part ? part.toolCallId : part.type)).join()}`,
    )
    .join(' | ');

describe('what an operator appends to the history', () => {
  it('is placed after the results while tools run, in transcript and request', async () => {
    for (const type of ['tool.call', 'tool.result'] as const) {
      const { messages, model } = await run([
        beside(
          type,
          append(user('Note.')),
          (event) => (event.type === 'tool.call' || event.type === 'tool.result') && event.call.id === '1',
        ),
      ]);
      expect(line(messages)).toBe('user: Go. | assistant 1,2 | tool 1,2 | user: Note. | assistant text');
      expect(line(model.requests[1]?.messages.toArray() ?? [])).toBe(
        'user: Go. | assistant 1,2 | tool 1,2 | user: Note.',
      );
    }
  });

  it('is appended immediately when no tool is running', async () => {
    const { messages } = await run([
      beside('model.request', append(user('Note.')), (event) => event.type === 'model.request' && event.step === 1),
    ]);
    expect(line(messages)).toBe('user: Go. | user: Note. | assistant 1,2 | tool 1,2 | assistant text');
  });

  it('is kept when the turn is stopped while it waits', async () => {
    const stopping: TurnOperator = intercept('stopping', () => ({
      decide: {
        'tool.call': (event) => (event.call.id === '1' ? [event, append(user('Note.')), stop('blocked')] : undefined),
      },
    }));
    const { messages } = await run([stopping]);
    expect(line(messages)).toBe('user: Go. | assistant 1,2 | tool 1,2 | user: Note.');
  });

  it('is repaired if it is invalid', async () => {
    const stray: readonly Message[] = [
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: '9', toolName: 'ls', output: { type: 'text', value: 'x' } }],
      },
      { role: 'assistant', content: [call('8', 'ls')] },
    ];
    const { messages, watched } = await run([beside('session.loaded', append(...stray))]);
    expect(watched.end.outcome).toBe('completed');
    expect(line(messages)).toContain('assistant 8 | tool 8 | ');
    expect(line(messages)).not.toContain('tool 9');
  });

  it('is in the order of the transcript in a reply too', async () => {
    const sessions = slowSessions();
    const agent = harness({
      model: scriptedModel([response(call('1', 'ls')), 'Done.']),
      tools: scriptedTools({ ls: 'a' }),
      sessions,
    }).pipe(beside('tool.result', append(user('Note.'))));
    const { messages } = await reply(agent.turn({ session: 'alice', input: 'Go.' }));
    expect(messages).toEqual(sessions.messages('alice'));
  });
});

describe('a replaced history', () => {
  const replace = (messages: readonly Message[]): NewEvent => ({
    type: 'history.replace',
    origin: 'compaction',
    messages,
  });

  it('is part of the next request', async () => {
    const compact: TurnOperator = intercept('compact', () => ({
      decide: {
        'model.request': (event) =>
          event.step === 2 ? [replace([user('Summary.'), ...event.messages.slice(-2)]), event] : undefined,
      },
    }));
    const { messages, model } = await run([compact], [response(call('1', 'ls')), response(call('2', 'ls')), 'Done.']);
    expect(line(messages)).toBe('user: Summary. | assistant 1 | tool 1 | assistant 2 | tool 2 | assistant text');
    expect(line(model.requests[2]?.messages.toArray() ?? [])).toBe(
      'user: Summary. | assistant 1 | tool 1 | assistant 2 | tool 2',
    );
  });

  it('is repaired when it was cut between a call and its result', async () => {
    const cut: TurnOperator = intercept('cut', () => ({
      decide: {
        'model.request': (event) =>
          event.step === 2 ? [replace([user('Summary.'), ...event.messages.slice(-1)]), event] : undefined,
      },
    }));
    const { messages } = await run([cut]);
    expect(line(messages)).toBe('user: Summary. | assistant text');
  });

  it('is ignored while tools run: their results would lose their calls', async () => {
    const { messages, watched } = await run([beside('tool.result', replace([user('Summary.')]))]);
    expect(line(messages)).toBe('user: Go. | assistant 1,2 | tool 1,2 | assistant text');
    expect(watched.all('event.ignored').map(({ event }) => event)).toEqual(['history.replace', 'history.replace']);
  });
});

describe('the transcript', () => {
  it('omits an empty answer, which providers reject', async () => {
    const { messages, watched } = await run(
      [],
      [response('', call('1', 'ls')), { content: [], finishReason: 'stop', usage: response().usage }],
    );
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(messages[1]?.content).toEqual([call('1', 'ls')]);
    expect(watched.end).toMatchObject({ outcome: 'completed', steps: 2 });
  });

  it('keeps an empty text with options, which may carry a signature', async () => {
    const signed = { type: 'text', text: '', providerOptions: { google: { thoughtSignature: 'x' } } } as const;
    const { messages } = await run([], [response(signed)]);
    expect(messages[1]?.content).toEqual([signed]);
  });

  it('holds the results in the order of the calls when the turn is stopped in the middle', async () => {
    const { messages, watched } = await run([
      intercept('stopping', () => ({
        decide: {
          'tool.result': (event) =>
            event.call.id === '2' ? [event, stop('blocked', 'Enough.')] : new Promise(() => undefined),
        },
      })),
    ]);
    expect(resultTexts(messages)).toEqual({
      1: 'Cancelled while it may have been running; what it had done by then remains done: Enough.',
      2: 'a.txt',
    });
    expect(watched.end.outcome).toBe('blocked');
    expect(messages[2]).toMatchObject({ content: [{ toolCallId: '1' }, { toolCallId: '2' }] });
  });

  it('reports that a call did not run if the step was not decided in full', async () => {
    const { messages } = await run([
      intercept('stopping', () => ({
        decide: { 'tool.call': (event) => (event.call.id === '2' ? stop('blocked', 'Enough.') : undefined) },
      })),
    ]);
    expect(resultTexts(messages)).toEqual({
      1: 'Cancelled before it ran: Enough.',
      2: 'Cancelled before it ran: Enough.',
    });
  });
});
