import { createTokenCounter } from '@h/compaction';
import { prompt } from '@h/prompt';
import { harness } from '@h/turn';
import { event, scriptedModel, user } from '@h/turn/testing';
import { lastValueFrom, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ContextWindow } from './context-window.js';

const sections = {
  frozen: [{ id: 'identity', text: 'a '.repeat(300) }],
  session: [{ id: 'rules', text: 'a '.repeat(900) }],
  volatile: [{ id: 'date', text: 'Today.' }],
};

const turnSeenBy = async (context: ContextWindow): Promise<void> => {
  const agent = harness({ model: scriptedModel(['Hello.']) }).pipe(prompt(sections));
  await lastValueFrom(agent.turn({ session: 'alice', input: 'Hi.' }).pipe(tap((next) => context.event(next))));
};

describe('ContextWindow', () => {
  it('returns undefined before the first request', () => {
    expect(new ContextWindow(createTokenCounter(), 1000).shares()).toBeUndefined();
  });

  it('splits the prompt into its tiers', async () => {
    const context = new ContextWindow(createTokenCounter(), 200_000);
    await turnSeenBy(context);
    const {
      window = 0,
      frozen = 0,
      session = 0,
      volatile = 0,
      messages = 0,
      total = 0,
      tools,
    } = context.shares() ?? {};
    expect([window, tools]).toEqual([200_000, 0]);
    expect(session / frozen).toBeCloseTo(3, 1);
    expect(volatile).toBeGreaterThan(0);
    expect(frozen + session + volatile + messages).toBe(total);
  });

  it('tracks the history between two requests', async () => {
    const context = new ContextWindow(createTokenCounter(), undefined);
    await turnSeenBy(context);
    const before = context.shares()?.messages ?? 0;
    context.event(event('history.append', { origin: 'x', messages: [user('word '.repeat(500))] }));
    expect(context.shares()?.messages).toBeGreaterThan(before + 400);
    context.event(event('history.replace', { origin: 'x', messages: [user('Short.')] }));
    expect(context.shares()?.messages).toBeLessThan(before);
  });
});
