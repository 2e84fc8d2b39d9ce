import { request, user } from '@h/turn/testing';
import { expect, it } from 'vitest';
import { contextUsage } from './context-usage.js';
import { createTokenCounter } from './counting/token-counter.js';

const given = request({
  system: [{ text: 'You are helpful.' }],
  messages: [user('word '.repeat(1000))],
  tail: [user('It is noon.')],
});

it('tells what fills a window and what is left of it', () => {
  const { system, tools, messages, tail, total, window, reserve, limit, free } = contextUsage(given, {
    window: 10_000,
    reserve: 2_000,
    threshold: 0.5,
  });
  expect({ window, reserve, limit, tools }).toEqual({ window: 10_000, reserve: 2_000, limit: 4_000, tools: 0 });
  expect(total).toBe(system + tools + messages + tail);
  expect(messages).toBeGreaterThan(1000);
  expect(free).toBe(4_000 - total);
  expect(contextUsage(given, { window: 100 }).free).toBe(0);
  expect(contextUsage(given)).toMatchObject({ window: 128_000, reserve: 16_384 });
});

it('counts as the counter does that it was given', () => {
  const counter = createTokenCounter();
  const { total } = contextUsage(given, { counter });
  counter.calibration.learn(undefined, 'estimate', total, total * 2);
  expect(contextUsage(given, { counter }).total).toBeGreaterThan(total * 1.9);
});

it('refuses what it does not know', () => {
  expect(() => contextUsage(given, { windows: 1 } as never)).toThrow(
    expect.objectContaining({ code: 'invalid-option' }),
  );
});
