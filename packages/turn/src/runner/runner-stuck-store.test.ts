import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { slowSessions, type SlowSessions } from '../../test/slow-sessions.js';
import { expectEnded, expectSound, watch, type Watched } from '../../test/turns.js';
import { stop } from '../contract/decisions.js';
import { SessionStuckError, type StoreOperation } from '../contract/errors.js';
import { harness, type Agent } from '../harness.js';
import { intercept } from '../operators/intercept.js';
import { call, response, scriptedModel, scriptedTools } from '../testing/index.js';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

const hours = 3_600_000;

/** A store of which one operation takes hours, the first time from a place on. */
const hanging = (operation: StoreOperation, place = 0): SlowSessions =>
  slowSessions({ delayMs: (asked, count) => (asked === operation && count === place ? 10 * hours : 1) });

const agentWith = (sessions: SlowSessions): Agent =>
  harness({ model: scriptedModel(['One.', 'Two.', 'Three.', 'Four.']), sessions, closeGraceMs: 500 }).pipe();

const ask = async (agent: Agent, waitMs = 5_000): Promise<Watched> => {
  const watched = watch(agent.turn({ session: 'alice', input: 'Go on.' }));
  await vi.advanceTimersByTimeAsync(waitMs);
  return watched;
};

describe('a store that hangs', () => {
  it('in close() delays neither the end nor the next turn, and keeps the session locked', async () => {
    const sessions = hanging('close');
    const agent = agentWith(sessions);
    const first = await ask(agent);
    expectEnded('', first);
    expect(first.end.outcome).toBe('completed');
    const appended = sessions.counts.append;
    const second = await ask(agent);
    expect(second.end).toMatchObject({
      outcome: 'error',
      error: {
        name: 'SessionStuckError',
        code: 'session-stuck',
        message: expect.stringContaining('close()') as string,
      },
    });
    expect([sessions.counts.open, sessions.counts.append]).toEqual([1, appended]);
    await vi.advanceTimersByTimeAsync(10 * hours);
    expect((await ask(agent)).end.outcome).toBe('completed');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects the turn that is already waiting', async () => {
    const agent = agentWith(hanging('close'));
    const first = watch(agent.turn({ session: 'alice', input: 'Go on.' }));
    await vi.advanceTimersByTimeAsync(200);
    expect(first.isComplete).toBe(false);
    const second = await ask(agent, 200);
    expect(second.isComplete).toBe(false);
    await vi.advanceTimersByTimeAsync(500);
    expect(first.end.outcome).toBe('completed');
    expect(second.end.error?.code).toBe('session-stuck');
  });

  it.each([6, 7])(
    'in append() while the turn ends says so, as nothing tells whether its end is kept (record %i)',
    async (place) => {
      const sessions = hanging('append', place);
      const agent = agentWith(sessions);
      const first = await ask(agent);
      expectEnded('', first);
      expect(first.end).toMatchObject({
        outcome: 'error',
        reason: 'The journal could not be written.',
        error: { code: 'session-stuck', message: expect.stringContaining('append()') as string },
      });
      expect((await ask(agent)).end.error?.code).toBe('session-stuck');
      expect(sessions.counts.open).toBe(1);
      await vi.advanceTimersByTimeAsync(10 * hours);
      expect((await ask(agent)).end.outcome).toBe('completed');
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it.each([1, 3, 4])(
    'in append() in the middle of a turn ends it with an error, after it has done all it may (record %i)',
    async (place) => {
      const sessions = hanging('append', place);
      const agent = agentWith(sessions);
      const first = watch(agent.turn({ session: 'alice', input: 'Go on.' }));
      await vi.advanceTimersByTimeAsync(400);
      expect(first.isComplete).toBe(false);
      await vi.advanceTimersByTimeAsync(2_000);
      expectEnded('', first);
      expect(first.end.error?.code).toBe('session-stuck');
      expect((await ask(agent)).end.error?.code).toBe('session-stuck');
      await vi.advanceTimersByTimeAsync(10 * hours);
      expect((await ask(agent)).end.outcome).toBe('completed');
    },
  );

  it('in append() when the subscriber has left does not hang the next turn', async () => {
    const sessions = hanging('append', 3);
    const agent = agentWith(sessions);
    const first = await ask(agent);
    first.subscription.unsubscribe();
    const second = await ask(agent);
    expect(second.end.error?.code).toBe('session-stuck');
    expect(agent.running()).toEqual([]);
    await vi.advanceTimersByTimeAsync(10 * hours);
    expect((await ask(agent)).end.outcome).toBe('completed');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('in append() of an unprompted stop of an operator still ends the turn', async () => {
    const timeLimit = intercept('time-limit', ({ after, emit }) => ({
      observe: { 'model.request': () => void after(100, () => emit(stop('timed-out'))) },
    }));
    const sessions = hanging('append', 4);
    const agent = harness({ model: scriptedModel([{ never: [] }, 'Two.']), sessions, closeGraceMs: 500 }).pipe(
      timeLimit,
    );
    const first = watch(agent.turn({ session: 'alice', input: 'Go on.' }));
    await vi.advanceTimersByTimeAsync(1_300);
    expectEnded('', first);
    expect(first.types.at(-2)).toBe('model.request');
    expect(first.end.error?.code).toBe('session-stuck');
  });

  it('in open() does not hang the next turn once the first is aborted', async () => {
    const sessions = hanging('open');
    const agent = agentWith(sessions);
    const controller = new AbortController();
    const first = watch(agent.turn({ session: 'alice', input: 'Go on.', signal: controller.signal }));
    await vi.advanceTimersByTimeAsync(1_000);
    controller.abort();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(first.end.outcome).toBe('cancelled');
    const second = await ask(agent);
    expect(second.end.error).toMatchObject({
      code: 'session-stuck',
      message: expect.stringContaining('open()') as string,
    });
    expect(sessions.counts.open).toBe(1);
    await vi.advanceTimersByTimeAsync(10 * hours);
    expect((await ask(agent)).end.outcome).toBe('completed');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is not considered stuck while an operator holds the end or it answers in time', async () => {
    const sessions = slowSessions({ delayMs: (operation) => (operation === 'close' ? 450 : 1) });
    const agent = agentWith(sessions);
    const first = watch(agent.turn({ session: 'alice', input: 'Go on.' }));
    await vi.advanceTimersByTimeAsync(100);
    const second = watch(agent.turn({ session: 'alice', input: 'And on.' }));
    await vi.advanceTimersByTimeAsync(5_000);
    expect([first.end.outcome, second.end.outcome]).toEqual(['completed', 'completed']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('in any operation, with any abort, blocks no other session and leaves a valid one', async () => {
    let hung = 0;
    for (const operation of ['open', 'append', 'close'] as const) {
      for (let place = 0; place < (operation === 'append' ? 12 : 1); place += 1) {
        for (const [way, afterMs] of [
          ['abort', 3],
          ['leave', 3],
          ['abort', 15],
          ['leave', 15],
          ['abort', 700],
          ['leave', 700],
        ] as const) {
          const label = `${operation} ${place}, ${way} after ${afterMs} ms`;
          const sessions = hanging(operation, place);
          const model = scriptedModel([response(call('1', 'ls')), 'One.', 'Two.', 'Three.', 'Four.'], { delayMs: 2 });
          const agent = harness({ model, tools: scriptedTools({ ls: 'a' }), sessions, closeGraceMs: 500 }).pipe();
          const controller = new AbortController();
          const first = watch(agent.turn({ session: 'alice', input: 'Go on.', signal: controller.signal }));
          await vi.advanceTimersByTimeAsync(afterMs);
          if (way === 'abort') controller.abort();
          else first.subscription.unsubscribe();
          await vi.advanceTimersByTimeAsync(60);
          if (sessions.counts[operation] <= place) continue;
          hung += 1;
          const second = await ask(agent);
          expect(second.isComplete, label).toBe(true);
          expect(['completed', 'error'], label).toContain(second.end.outcome);
          if (second.end.outcome === 'error') expect(second.end.error?.code, label).toBe('session-stuck');
          if (way === 'abort') expectEnded(label, first);
          expect(agent.running(), label).toEqual([]);
          await vi.advanceTimersByTimeAsync(20 * hours);
          expect((await ask(agent)).end.outcome, label).toBe('completed');
          expectSound(label, sessions.journal('alice'), sessions.messages('alice'));
          expect(vi.getTimerCount(), label).toBe(0);
        }
      }
    }
    expect(hung).toBeGreaterThan(50);
  });

  it('names the session and the pending operation in its error', () => {
    expect(new SessionStuckError('alice', 'append')).toMatchObject({
      code: 'session-stuck',
      session: 'alice',
      operation: 'append',
    });
  });
});
