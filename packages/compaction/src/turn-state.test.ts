import type { Message } from '@h/turn';
import { event, request, usage, user } from '@h/turn/testing';
import { describe, expect, it, vi } from 'vitest';
import { createTokenCounter } from './counting/token-counter.js';
import { settingsOf } from './settings.js';
import { TurnState } from './turn-state.js';

const stateWith = () => {
  const newCounter = vi.fn(createTokenCounter);
  return { state: new TurnState({ ...settingsOf({}), newCounter }), newCounter };
};
const words = (count: number): Message => user('word '.repeat(count));
const requestOf = (...messages: Message[]) => request({ messages });
const limit = 10_000;

describe('TurnState.isFarBelow', () => {
  it('accepts a short request without counting it', () => {
    const { state, newCounter } = stateWith();
    const short = requestOf(words(400));
    expect(state.isFarBelow(limit, short)).toBe(true);
    state.sent(event('model.request', { ...short, step: 1, attempt: 1 }));
    state.learn(usage(500));
    expect(newCounter).not.toHaveBeenCalled();
  });

  it('does not accept a longer request before usage was reported', () => {
    const { state } = stateWith();
    expect(state.isFarBelow(limit, requestOf(words(2000)))).toBe(false);
  });

  it('adds to the reported usage what is new since', () => {
    const { state } = stateWith();
    const first = requestOf(words(2000));
    state.isFarBelow(limit, first);
    state.sent(event('model.request', { ...first, step: 1, attempt: 1 }));
    state.learn(usage(2500));
    expect(state.isFarBelow(limit, requestOf(...first.messages, words(100)))).toBe(true);
    expect(state.isFarBelow(limit, requestOf(...first.messages, words(1000)))).toBe(false);
  });

  it('ignores usage without the cached tokens', () => {
    const { state } = stateWith();
    const first = requestOf(words(2000));
    state.sent(event('model.request', { ...first, step: 1, attempt: 1 }));
    state.learn(usage(20));
    expect(state.isFarBelow(limit, requestOf(...first.messages, words(1)))).toBe(false);
  });

  it('ignores usage of a history that was replaced', () => {
    const { state } = stateWith();
    const first = requestOf(words(2000));
    state.sent(event('model.request', { ...first, step: 1, attempt: 1 }));
    state.learn(usage(2500));
    expect(state.isFarBelow(limit, requestOf(words(1800)))).toBe(false);
  });

  it('calibrates the counter by the last answer once a request must be counted', () => {
    const { state } = stateWith();
    const first = requestOf(words(498));
    expect(state.isFarBelow(limit, first)).toBe(true);
    state.sent(event('model.request', { ...first, step: 1, attempt: 1 }));
    state.learn(usage(900));
    expect(state.isFarBelow(limit, requestOf(...first.messages, words(3000)))).toBe(false);
    expect(state.counter.calibration.factor(undefined, 'estimate')).toBeGreaterThan(1.3);
  });

  it('counts every request with a counter that the app has passed', () => {
    const state = new TurnState(settingsOf({ counter: createTokenCounter() }));
    expect(state.isFarBelow(limit, requestOf(words(1)))).toBe(false);
  });
});
