import { harness, memorySessions, reply, type ModelDriver, type ToolDriver, type TurnEvent } from '@h/turn';
import { call, failure, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { costing, eager, run } from '../test/turns.js';
import { guardrails } from './guardrails.js';

describe('an answer that comes in pieces', () => {
  it('is ended where the tokens are used up, though the model does not keep to its maximum', async () => {
    const pieces = Array.from({ length: 1000 }, () => 'word'.repeat(10));
    const { outcome, reason, of, model } = await run([{ never: pieces }], { maxOutputTokens: 200 });
    expect(outcome).toBe('budget-exceeded');
    expect(reason).toBe('The turn has received 210 of the 200 tokens that it may receive.');
    expect(of('model.delta')).toHaveLength(21);
    expect(model.abandoned).toBe(1);
  });

  it('is ended where its cost would pass the limit', async () => {
    const pieces = Array.from({ length: 1000 }, () => 'word'.repeat(10));
    const { outcome, of } = await run([{ never: pieces }], { maxCost: 1, costOf: ({ output }) => output / 100 });
    expect(outcome).toBe('budget-exceeded');
    expect(of('model.delta')).toHaveLength(11);
  });

  it('counts what the estimate of the caller says', async () => {
    const { of } = await run([{ never: Array.from({ length: 100 }, () => 'x') }], {
      maxOutputTokens: 50,
      estimateTokens: (text) => 10 * text.length,
    });
    expect(of('model.delta')).toHaveLength(6);
  });

  it('counts what an abandoned answer has used', async () => {
    const { of } = await run([{ never: ['x'.repeat(400)] }], {
      maxOutputTokens: 50,
      session: { maxOutputTokens: 1000 },
    });
    expect(of('session.state').at(-1)?.value).toMatchObject({ used: { steps: 1, outputTokens: 100 } });
  });

  it('counts a failed attempt with what had come of it', async () => {
    const { of } = await run([{ error: failure('Lost.'), after: ['x'.repeat(400)] }], {
      session: { maxOutputTokens: 1000 },
    });
    expect(of('session.state').at(-1)?.value).toMatchObject({ used: { outputTokens: 100, steps: 1 } });
    expect(of('model.error')[0]?.annotations?.['guardrails']).toMatchObject({ outputTokens: 100 });
  });

  it('counts nothing for an attempt that failed before anything came', async () => {
    const { of } = await run([{ error: failure('Busy.') }], { session: { maxOutputTokens: 1000 } });
    expect(of('session.state').at(-1)?.value).toMatchObject({ used: { outputTokens: 0, inputTokens: 0 } });
  });
});

describe('a limit on time', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
  afterEach(() => void vi.useRealTimers());

  const running = (model: ModelDriver, tools: ToolDriver, maxDurationMs: number) => {
    const agent = harness({ model, tools }).pipe(guardrails({ maxDurationMs }));
    const events: TurnEvent[] = [];
    const result = reply(
      new Observable<TurnEvent>((subscriber) =>
        agent.turn({ session: 'alice', input: 'Work.' }).subscribe({
          next: (event) => {
            events.push(event);
            subscriber.next(event);
          },
          complete: () => subscriber.complete(),
        }),
      ),
    );
    return { result, events };
  };

  it('ends a model that never answers', async () => {
    const model = scriptedModel([{ never: ['Well'] }]);
    const { result } = running(model, scriptedTools({}), 10_000);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(model.active).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await result).toMatchObject({
      outcome: 'timed-out',
      reason: 'The turn has taken 10000 of the 10000 milliseconds that it may take.',
    });
    expect({ active: model.active, timers: vi.getTimerCount() }).toEqual({ active: 0, timers: 0 });
  });

  it('ends the turn also when the limit is used up between two readings of the clock', async () => {
    for (let part = 0; part < 40; part += 1) {
      let readings = 0;
      // A timer fires a little early by this clock, and each reading of it takes a moment.
      const now = (): number => Date.now() - (Date.now() - 1_000_000) * (part / 40_000) + (readings += 1) / 20;
      const scheduler: SchedulerLike = { now, schedule: asyncScheduler.schedule.bind(asyncScheduler) };
      const agent = harness({ model: scriptedModel([{ never: ['Well'] }]), tools: scriptedTools({}), scheduler });
      let outcome = 'runs on';
      const turn = agent.pipe(guardrails({ maxDurationMs: 1_000 })).turn({ session: 'alice', input: 'Work.' });
      void reply(turn).then((end) => (outcome = end.outcome));
      await vi.advanceTimersByTimeAsync(60_000);
      expect(outcome, `${part}`).toBe('timed-out');
      vi.setSystemTime(1_000_000);
    }
  });

  it('ends a tool that never answers, with a result for its call', async () => {
    const tools = scriptedTools({ ls: { never: true } });
    const { result, events } = running(scriptedModel([response(call('1', 'ls'))]), tools, 10_000);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await result).toMatchObject({ outcome: 'timed-out' });
    expect(tools.active).toBe(0);
    expect(events.find(({ type }) => type === 'tool.result')).toMatchObject({ status: 'cancelled' });
  });

  it('tells when it comes near, and gives the last tenth to a summary', async () => {
    const { result, events } = running(
      scriptedModel(
        Array.from({ length: 50 }, () => eager),
        { delayMs: 100 },
      ),
      scriptedTools({ ls: 'a.txt' }),
      10_000,
    );
    await vi.advanceTimersByTimeAsync(60_000);
    const { outcome, text, reason } = await result;
    expect({ outcome, text }).toEqual({ outcome: 'timed-out', text: 'This is what is done.' });
    expect(reason).toBe(
      'The turn has taken 9600 of the 10000 milliseconds that it may take. Its last step ran without tools, to sum up.',
    );
    expect(events.find(({ type }) => type === 'budget.near')).toMatchObject({
      limit: 'maxDurationMs',
      at: 1_009_000,
      used: 9000,
      left: 1000,
    });
  });

  it('is seen in a flood of pieces that lets no timer through', async () => {
    const model: ModelDriver = () =>
      new Observable((subscriber) => {
        for (let count = 0; count < 1000 && !subscriber.closed; count += 1) {
          vi.setSystemTime(Date.now() + 100);
          subscriber.next({ type: 'delta', delta: { type: 'text', text: 'x' } });
        }
      });
    const { result, events } = running(model, scriptedTools({}), 10_000);
    await vi.advanceTimersByTimeAsync(0);
    expect(await result).toMatchObject({ outcome: 'timed-out' });
    expect(events.filter(({ type }) => type === 'model.delta')).toHaveLength(100);
  });

  it('lets nothing begin at 0 and leaves no timer at Infinity', async () => {
    expect(await running(scriptedModel(['Hi']), scriptedTools({}), 0).result).toMatchObject({
      outcome: 'timed-out',
      steps: 0,
    });
    const { result } = running(scriptedModel(['Hi']), scriptedTools({}), Infinity);
    expect(await result).toMatchObject({ outcome: 'completed' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('may be longer than timers of JavaScript', async () => {
    const { result } = running(scriptedModel([{ never: [] }]), scriptedTools({}), 3e9);
    await vi.advanceTimersByTimeAsync(2_999_999_999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await result).toMatchObject({ outcome: 'timed-out' });
  });

  it('leaves nothing behind when the subscriber leaves at any moment', async () => {
    for (let moment = 0; moment < 3000; moment += 250) {
      const model = scriptedModel([eager, eager, eager], { delayMs: 500 });
      const agent = harness({ model, tools: scriptedTools({ ls: 'a.txt' }) }).pipe(
        guardrails({ maxDurationMs: 2200, session: { maxTokens: 100 } }),
      );
      const subscription = agent.turn({ session: 'alice', input: 'Work.' }).subscribe();
      await vi.advanceTimersByTimeAsync(moment);
      subscription.unsubscribe();
      expect({ active: model.active, timers: vi.getTimerCount() }).toEqual({ active: 0, timers: 0 });
    }
  });
});

describe('a turn that is cancelled', () => {
  it('keeps what it has used in the session', async () => {
    const controller = new AbortController();
    const sessions = memorySessions();
    const model = scriptedModel([costing(700, 100, call('1', 'ls')), { never: ['x'] }]);
    const agent = harness({ model, sessions, tools: scriptedTools({ ls: 'a.txt' }) }).pipe(
      guardrails({ session: { maxTokens: 2000 }, wrapUp: false }),
    );
    const first = reply(agent.turn({ session: 'alice', input: 'Work.', signal: controller.signal }));
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect(await first).toMatchObject({ outcome: 'cancelled' });
    const second = reply(
      harness({ model: scriptedModel([costing(300, 10, 'Hi')]), sessions })
        .pipe(guardrails({ session: { maxTokens: 1500 } }))
        .turn({ session: 'alice', input: 'Again.' }),
    );
    expect(await second).toMatchObject({
      outcome: 'budget-exceeded',
      steps: 0,
      reason: expect.stringMatching(/^The session has used 16\d\d of the 1500 tokens/) as string,
    });
  });
});
