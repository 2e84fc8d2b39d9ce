import { harness, type ModelRequest, type TurnEvent } from '@h/turn';
import { call, event, request, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { of } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PromptOptions } from './options.js';
import { prompt } from './prompt.js';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const never = async (): Promise<string> => new Promise(() => undefined);
const later = (text: string, delayMs: number) => async (): Promise<string> =>
  new Promise((resolve) => setTimeout(() => resolve(text), delayMs));

/** Sends one request through `prompt()` and notes when what came out. */
const record = (options: PromptOptions): { readonly events: [number, TurnEvent][]; readonly leave: () => void } => {
  const events: [number, TurnEvent][] = [];
  const source = of(event('model.request', { step: 1, attempt: 1, ...request() }));
  const subscription = source.pipe(prompt(options)).subscribe((made) => events.push([Date.now(), made]));
  return { events, leave: () => subscription.unsubscribe() };
};

describe('prompt, with slow sections', () => {
  it('loads all sections concurrently', async () => {
    const { events } = record({
      frozen: [{ id: 'f', text: later('F', 300) }],
      session: [{ id: 's', text: later('S', 500) }],
      volatile: [{ id: 'v', text: later('V', 400) }],
    });
    await vi.advanceTimersByTimeAsync(500);
    expect(events).toMatchObject([[500, { type: 'model.request', system: [{ text: 'F' }, { text: 'S' }] }]]);
  });

  it('continues at the deadline and reports the late sections', async () => {
    const { events } = record({
      frozen: [{ id: 'f', text: 'F' }],
      session: [{ id: 's', text: never }],
      volatile: [{ id: 'v', text: never }],
      deadlineMs: 700,
    });
    await vi.advanceTimersByTimeAsync(699);
    expect(events).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(events).toMatchObject([
      [
        700,
        {
          type: 'prompt.skipped',
          section: 's',
          tier: 'session',
          reason: 'timed-out',
          message: 'The section took longer than 700 ms.',
        },
      ],
      [700, { type: 'prompt.skipped', section: 'v', tier: 'volatile', reason: 'timed-out' }],
      [700, { type: 'model.request', system: [{ text: 'F' }], tail: [] }],
    ]);
  });

  it('applies the time limit of a section', async () => {
    const { events } = record({
      session: [
        { id: 's', text: never, timeoutMs: 100 },
        { id: 'files', load: async () => new Promise(() => undefined), timeoutMs: 200 },
      ],
    });
    await vi.advanceTimersByTimeAsync(200);
    expect(events).toMatchObject([
      [200, { section: 's' }],
      [200, { section: 'files' }],
      [200, { type: 'model.request' }],
    ]);
  });

  it('derives the deadline from the turn’s budget', async () => {
    const endsAt = 1000;
    const seen: unknown[] = [];
    const deadlineMs: PromptOptions['deadlineMs'] = (turn) => {
      seen.push(turn);
      return (endsAt - turn.at) / 10;
    };
    const { events } = record({ session: [{ id: 's', text: never }], deadlineMs });
    await vi.advanceTimersByTimeAsync(100);
    expect(events.at(-1)).toMatchObject([100, { type: 'model.request' }]);
    expect(seen[0]).toMatchObject({ at: 0, startedAt: 0, session: '', trigger: 'user' });
  });

  it.each([Number.NaN, -5, Infinity, 0])('does not wait if the deadline is %d', async (left) => {
    const { events } = record({
      frozen: [{ id: 'f', text: 'F' }],
      session: [{ id: 's', text: never }],
      deadlineMs: () => left,
    });
    await vi.advanceTimersByTimeAsync(0);
    expect(events.at(-1)).toMatchObject([0, { type: 'model.request', system: [{ text: 'F' }] }]);
  });

  it('aborts a late function and ignores its result', async () => {
    let reason: unknown;
    const text = async ({ signal }: { readonly signal: AbortSignal }): Promise<string> =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          reject(new Error('Stopped.'));
        });
      });
    const { events } = record({ session: [{ id: 's', text }], deadlineMs: 50 });
    await vi.advanceTimersByTimeAsync(50);
    expect(reason).toMatchObject({ name: 'AbortError' });
    expect(events).toHaveLength(2);
  });

  it('aborts functions when the turn ends and leaves no timer', async () => {
    let isStopped = false;
    const text = async ({ signal }: { readonly signal: AbortSignal }): Promise<string> => {
      signal.addEventListener('abort', () => (isStopped = true));
      return never();
    };
    const { events, leave } = record({ session: [{ id: 's', text }] });
    await vi.advanceTimersByTimeAsync(10);
    leave();
    expect(isStopped).toBe(true);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(events).toEqual([]);
  });

  it('does not reload a late volatile section in the same turn', async () => {
    let calls = 0;
    const slow = async (): Promise<string> => {
      calls += 1;
      return never();
    };
    const model = scriptedModel([response(call('1', 'ls')), response(call('2', 'ls')), 'Done.']);
    const agent = harness({ model, tools: scriptedTools({ ls: 'a' }) }).pipe(
      prompt({
        volatile: [
          { id: 'slow', text: slow },
          { id: 'quick', text: 'Q' },
        ],
      }),
    );
    const skipped: TurnEvent[] = [];
    let ended = 0;
    agent.turn({ session: 'a', input: 'Hi' }).subscribe((made) => {
      if (made.type === 'prompt.skipped') skipped.push(made);
      if (made.type === 'turn.end') ended = Date.now();
    });
    await vi.advanceTimersByTimeAsync(2000);
    expect([calls, skipped.length, ended]).toEqual([1, 1, 2000]);
    expect(model.requests.map((asked: ModelRequest) => asked.tail.length)).toEqual([1, 1, 1]);
  });

  it('holds only the request, so that the turn can be stopped', async () => {
    const stop = new AbortController();
    const agent = harness({ model: scriptedModel([]) }).pipe(prompt({ session: [{ id: 's', text: never }] }));
    const events: TurnEvent[] = [];
    agent.turn({ session: 'a', input: 'Hi', signal: stop.signal }).subscribe((made) => events.push(made));
    await vi.advanceTimersByTimeAsync(10);
    stop.abort('Enough.');
    await vi.advanceTimersByTimeAsync(10);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'cancelled', reason: 'Enough.' });
  });
});
