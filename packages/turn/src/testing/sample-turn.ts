import type { TurnEvent } from '../contract/events.js';
import { MessageList } from '../contract/message-list.js';
import { call, event, ok, request, response, usage, user } from './builders.js';

/** The events of an ordinary turn, in order: two steps, a tool call, an approval, steering, and unknown types. */
export const sampleTurn = (): readonly TurnEvent[] => {
  const answer = response('Let me look.', call('call-1', 'ls', { path: '.' }));
  const listing = { id: 'call-1', name: 'ls', input: { path: '.' } };
  const history = MessageList.of([user('What is here?')]);
  const delta = (text: string, step: number): TurnEvent =>
    event('model.delta', { step, attempt: 1, delta: { type: 'text', text } });
  return [
    event('turn.start', { session: 'session-1', input: [user('What is here?')], trigger: 'user' }),
    event('session.loaded', { session: 'session-1', messages: MessageList.empty, state: {}, repairs: [] }),
    event('history.append', { origin: 'input', messages: [user('What is here?')] }),
    event('model.request', { step: 1, attempt: 1, ...request({ messages: [...history] }) }),
    delta('Let ', 1),
    delta('me ', 1),
    delta('look.', 1),
    event('model.delta', {
      step: 1,
      attempt: 1,
      delta: { type: 'tool-input', toolCallId: 'call-1', toolName: 'ls', text: '{}' },
    }),
    event('model.response', { step: 1, attempt: 1, ...answer }),
    event('history.append', { origin: 'response', messages: [{ role: 'assistant', content: answer.content }] }),
    event('tool.call', { step: 1, index: 0, call: listing }),
    unknown('weather.changed'),
    event('approval.request', { id: 'approval-1', reason: 'May I look?', call: listing }),
    event('approval.answer', { id: 'approval-1', decision: 'once' }),
    event('tool.progress', { step: 1, call: listing, progress: { read: 1 } }),
    event('tool.result', { step: 1, call: listing, ...ok('a.txt') }),
    event('history.append', {
      origin: 'results',
      messages: [
        {
          role: 'tool',
          content: [
            { type: 'tool-result', toolCallId: 'call-1', toolName: 'ls', output: { type: 'text', value: 'a.txt' } },
          ],
        },
      ],
    }),
    event('input.received', { id: 'input-1', message: user('Only text files.') }),
    event('history.append', { origin: 'steering', messages: [user('Only text files.')], delivers: ['input-1'] }),
    event('model.request', { step: 2, attempt: 1, ...request() }),
    delta('One file.', 2),
    event('model.response', { step: 2, attempt: 1, ...response('One file.') }),
    event('history.append', {
      origin: 'response',
      messages: [{ role: 'assistant', content: [{ type: 'text', text: 'One file.' }] }],
    }),
    event('session.state', { key: 'sample', value: 1 }),
    event('turn.stop', { outcome: 'completed', afterStep: 2 }),
    event('turn.end', { outcome: 'completed', steps: 2, usage: usage(20, 10) }),
    unknown('tide.turned'),
  ].map((made, index) => ({ ...made, at: index * 100 }));
};

const unknown = (type: string): TurnEvent =>
  ({ type, turn: 'turn-1', at: 0, payload: { any: 'thing' } }) as unknown as TurnEvent;
