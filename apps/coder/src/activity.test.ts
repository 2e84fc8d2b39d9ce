import type { TurnEvent } from '@h/turn';
import { event, ok, request, usage } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { activityAfter, noActivity } from './activity.js';

const after = (...events: readonly TurnEvent[]): string => {
  const { label, since } = events.reduce(activityAfter, noActivity);
  return `${label} since ${since}`;
};

const asked = (at: number): TurnEvent => event('model.request', { step: 1, attempt: 1, ...request() }, { at });
const said = (type: 'text' | 'reasoning', at: number): TurnEvent =>
  event('model.delta', { step: 1, attempt: 1, delta: { type, text: 'x' } }, { at });
const callOf = (id: string) => ({ id, name: 'bash', input: { command: `run ${id}` } });
const called = (id: string, at: number): TurnEvent =>
  event('tool.call', { step: 1, index: 0, call: callOf(id) }, { at });
const answered = (id: string, at: number): TurnEvent =>
  event('tool.result', { step: 1, call: callOf(id), ...ok('') }, { at });

describe('activityAfter', () => {
  it('waits for the model after the request', () => {
    expect(after(asked(5))).toBe('Waiting for the model since 5');
  });

  it('measures from the first delta of a kind', () => {
    expect(after(asked(5), said('reasoning', 7), said('reasoning', 9))).toBe('Thinking since 7');
    expect(after(asked(5), said('reasoning', 7), said('text', 9), said('text', 11))).toBe('Answering since 9');
  });

  it('names the tool of a streaming call', () => {
    const delta = { type: 'tool-input', toolCallId: '1', toolName: 'edit', text: '{' } as const;
    expect(after(asked(5), event('model.delta', { step: 1, attempt: 1, delta }, { at: 8 }))).toBe(
      'Preparing edit since 8',
    );
  });

  it('names the first running call and counts the others', () => {
    expect(after(called('a', 5))).toBe('Running bash run a since 5');
    expect(after(called('a', 5), called('b', 5), called('c', 5))).toBe('Running bash run a and 2 more since 5');
    expect(after(called('a', 5), called('b', 5), answered('a', 8))).toBe('Running bash run b since 5');
  });

  it('waits for the model once all calls are answered', () => {
    expect(after(called('a', 5), answered('a', 8))).toBe('Waiting for the model since 8');
  });

  it('ignores a denied call', () => {
    const denied = event('tool.call', { step: 1, index: 0, call: callOf('a'), denied: { reason: 'No.' } }, { at: 7 });
    expect(after(asked(5), denied)).toBe('Waiting for the model since 5');
  });

  it('waits for the user while a question is pending', () => {
    const request = event('approval.request', { id: 'q', reason: 'May I?' }, { at: 6 });
    expect(after(called('a', 5), request)).toBe('Waiting for your answer since 6');
    expect(after(called('a', 5), request, event('approval.answer', { id: 'q', decision: 'once' }, { at: 9 }))).toBe(
      'Running bash run a since 9',
    );
  });

  it('is idle after the end', () => {
    const end = event('turn.end', { outcome: 'completed', steps: 1, usage: usage() }, { at: 20 });
    expect(after(asked(5), event('turn.stop', { outcome: 'completed' }, { at: 10 }))).toBe('Ending since 10');
    expect(after(asked(5), event('turn.stop', { outcome: 'cancelled' }, { at: 10 }))).toBe('Cancelling since 10');
    expect(after(asked(5), end)).toBe(' since 0');
  });

  it('is cancelling until the end, whatever the open calls return', () => {
    const stop = event('turn.stop', { outcome: 'cancelled' }, { at: 10 });
    const end = event('turn.end', { outcome: 'cancelled', steps: 1, usage: usage() }, { at: 20 });
    const open = [called('a', 5), called('b', 5), stop, answered('a', 11)];
    expect(after(...open)).toBe('Cancelling since 10');
    expect(after(...open, answered('b', 12))).toBe('Cancelling since 10');
    expect(after(...open, end)).toBe(' since 0');
  });

  it('ignores all other events', () => {
    expect(after(asked(5), event('session.state', { key: 'x', value: 1 }, { at: 9 }))).toBe(
      'Waiting for the model since 5',
    );
  });
});
