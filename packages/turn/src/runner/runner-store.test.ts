import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { richTurn } from '../../test/rich-turn.js';
import { slowSessions, type SlowSessionsOptions, type StoreOperation } from '../../test/slow-sessions.js';
import { expectEnded, expectSound, watch, type Watched } from '../../test/turns.js';
import { notice, stop } from '../contract/decisions.js';
import { harness } from '../harness.js';
import { intercept } from '../operators/intercept.js';
import type { Message } from '../contract/messages.js';
import { interruptedText } from '../transcript/repair.js';
import { call, ok, response, scriptedModel, scriptedTools, user } from '../testing/index.js';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(60_000);

describe('a slow store', () => {
  it('delays calls that must not run twice, and emits only stored events', async () => {
    const performed: string[] = [];
    const sessions = slowSessions({ delayMs: (_, count) => 1 + ((count * 5) % 7) });
    const model = scriptedModel([
      () => (
        performed.push(`model called after ${sessions.confirmed.at(-1)}`),
        response(call('1', 'ls'), call('2', 'ls'))
      ),
      () => (performed.push(`model called after ${sessions.confirmed.at(-1)}`), 'Done.'),
    ]);
    const tools = scriptedTools({
      ls: () => (
        performed.push(`tool called after ${sessions.confirmed.filter((type) => type === 'tool.call').length} calls`),
        'a'
      ),
    });
    const agent = harness({ model, tools, sessions }).pipe();
    const watched = watch(agent.turn({ session: 'alice', input: 'Go.' }), ({ type }) => {
      if (!['model.delta', 'event.ignored'].includes(type)) expect(sessions.confirmed).toContain(type);
    });
    await settle();
    expectEnded('', watched);
    expectSound('', sessions.journal('alice'), sessions.messages('alice'));
    expect(performed[0]).toBe('model called after undefined');
    expect(performed.slice(1, 3)).toEqual(['tool called after 2 calls', 'tool called after 2 calls']);
    const recorded = sessions.journal('alice').map(({ event }) => event.type);
    expect(watched.types.filter((type) => type !== 'model.delta')).toEqual(recorded);
  });

  it.each(['open', 'append', 'close'] as const)('with one thing only takes its time with it: %s', async (slow) => {
    const sessions = slowSessions({ delayMs: (operation) => (operation === slow ? 3 : undefined) });
    const agent = harness({
      model: scriptedModel([response(call('1', 'ls')), 'Done.']),
      tools: scriptedTools({ ls: 'a' }),
      sessions,
    }).pipe();
    const watched = watch(agent.turn({ session: 'alice', input: 'Go.' }));
    await settle();
    expectEnded(slow, watched);
    expectSound(slow, sessions.journal('alice'), sessions.messages('alice'));
    expect(watched.end.outcome).toBe('completed');
  });

  it('continues the turn when an unrecorded event follows recorded ones', async () => {
    const chatty = intercept('chatty', () => ({
      decide: Object.fromEntries(
        (['turn.start', 'session.loaded', 'history.append', 'model.response', 'tool.call', 'tool.result'] as const).map(
          (type) => [type, (event: object) => [event, notice('event.ignored', { event: type, reason: 'beside it' })]],
        ),
      ),
    }));
    const sessions = slowSessions({ delayMs: 3 });
    const agent = harness({
      model: scriptedModel([response(call('1', 'ls')), 'Done.']),
      tools: scriptedTools({ ls: 'a' }),
      sessions,
    }).pipe(chatty);
    const watched = watch(agent.turn({ session: 'alice', input: 'Go.' }));
    await settle();
    expectEnded('', watched);
    expect(watched.end.outcome).toBe('completed');
    const at = watched.types.indexOf('model.response');
    expect(watched.types[at + 1]).toBe('event.ignored');
  });

  it('delays the next turn while it closes, instead of failing it', async () => {
    const sessions = slowSessions({ delayMs: (operation) => (operation === 'close' ? 50 : 1) });
    const agent = harness({ model: scriptedModel(['One.', 'Two.', 'Three.']), sessions }).pipe();
    const turns: Watched[] = [];
    const next = (input: string): void => void turns.push(watch(agent.turn({ session: 'alice', input })));
    next('first');
    await vi.advanceTimersByTimeAsync(20);
    expect(turns[0]?.types.at(-1)).not.toBe('turn.end');
    next('second');
    await settle();
    next('third');
    await settle();
    expect(turns.map(({ end }) => end.outcome)).toEqual(['completed', 'completed', 'completed']);
    expect(sessions.messages('alice').filter(({ role }) => role === 'user')).toEqual([
      user('first'),
      user('second'),
      user('third'),
    ]);
  });

  it('is released once it is open if the subscriber left before that', async () => {
    const sessions = slowSessions({ delayMs: 10 });
    const agent = harness({ model: scriptedModel(['One.']), sessions }).pipe();
    const left = watch(agent.turn({ session: 'alice', input: 'first' }));
    await vi.advanceTimersByTimeAsync(5);
    left.subscription.unsubscribe();
    const next = watch(agent.turn({ session: 'alice', input: 'second' }));
    await settle();
    expect(next.end.outcome).toBe('completed');
    expect(sessions.messages('alice').filter(({ role }) => role === 'user')).toEqual([user('second')]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not loop when a turn is aborted while it is being opened and another one waits', async () => {
    const sessions = slowSessions({ delayMs: 10 });
    const agent = harness({ model: scriptedModel(['One.', 'Two.']), sessions }).pipe();
    const controller = new AbortController();
    const first = watch(agent.turn({ session: 'alice', input: 'first', signal: controller.signal }));
    await vi.advanceTimersByTimeAsync(2);
    controller.abort();
    const second = watch(agent.turn({ session: 'alice', input: 'second' }));
    const third = watch(agent.turn({ session: 'bob', input: 'elsewhere' }));
    await vi.advanceTimersByTimeAsync(2);
    first.subscription.unsubscribe();
    await settle();
    expect([second.end.outcome, third.end.outcome]).toEqual(['completed', 'completed']);
  });
});

describe('a session that is already running a turn', () => {
  it.each([[undefined], [2]])(
    'rejects another one with a typed error, and the first continues (delay %s)',
    async (delayMs) => {
      const sessions = slowSessions(delayMs === undefined ? {} : { delayMs });
      const agent = harness({ model: scriptedModel(['One.', 'Two.'], { delayMs: 20 }), sessions }).pipe();
      const first = watch(agent.turn({ session: 'alice', input: 'first' }));
      await vi.advanceTimersByTimeAsync(10);
      const second = watch(agent.turn({ session: 'alice', input: 'second' }));
      const elsewhere = watch(agent.turn({ session: 'bob', input: 'third' }));
      await settle();
      expect(second.end).toMatchObject({
        outcome: 'error',
        reason: expect.stringMatching(/^The session could not be opened\. .*"alice"/) as string,
        error: { name: 'SessionBusyError', code: 'session-busy' },
        undelivered: [user('second')],
      });
      expect(first.end.outcome).toBe('completed');
      expect(elsewhere.end.outcome).toBe('completed');
      const after = watch(
        harness({ model: scriptedModel(['Four.']), sessions })
          .pipe()
          .turn({ session: 'alice', input: 'fourth' }),
      );
      await settle();
      expect(after.end.outcome).toBe('completed');
    },
  );

  it('is released before turn.end, so that a turn may start inside it', async () => {
    const sessions = slowSessions();
    const agent = harness({ model: scriptedModel(['One.', 'Two.']), sessions }).pipe();
    let second: Watched | undefined;
    watch(agent.turn({ session: 'alice', input: 'first' }), ({ type }) => {
      if (type === 'turn.end') second = watch(agent.turn({ session: 'alice', input: 'second' }));
    });
    await settle();
    expect(second?.end.outcome).toBe('completed');
  });

  it('delays a later turn while the earlier one is closing', async () => {
    const sessions = slowSessions();
    const slowEnd = intercept('slow-end', () => ({
      decide: { 'turn.end': (event) => new Promise((resolve) => setTimeout(() => resolve(event), 30)) },
    }));
    const agent = harness({ model: scriptedModel(['One.', 'Two.']), sessions }).pipe(slowEnd);
    const first = watch(agent.turn({ session: 'alice', input: 'first' }));
    await vi.advanceTimersByTimeAsync(10);
    const second = watch(agent.turn({ session: 'alice', input: 'second' }));
    expect(second.types).toEqual([]);
    await settle();
    expect([first.end.outcome, second.end.outcome]).toEqual(['completed', 'completed']);
  });
});

describe('a store that fails', () => {
  const failing = (operation: StoreOperation, place: number, delayMs?: number): SlowSessionsOptions => ({
    ...(delayMs !== undefined && { delayMs }),
    failWith: (asked, count) =>
      asked === operation && count === place
        ? Object.assign(new Error('No space left.'), { code: 'ENOSPC' })
        : undefined,
  });

  it.each([[undefined], [1]])(
    'to open ends the turn with its error, and the session can be used later (delay %s)',
    async (delayMs) => {
      const sessions = slowSessions(failing('open', 0, delayMs));
      const model = scriptedModel(['Hello.']);
      const agent = harness({ model, sessions }).pipe();
      const first = watch(agent.turn({ session: 'alice', input: 'first' }));
      await settle();
      expectEnded('', first);
      expect(first.end).toMatchObject({
        outcome: 'error',
        reason: 'The session could not be opened. No space left.',
        error: { code: 'ENOSPC' },
        undelivered: [user('first')],
      });
      expect(model.requests).toEqual([]);
      const second = watch(agent.turn({ session: 'alice', input: 'second' }));
      await settle();
      expect(second.end.outcome).toBe('completed');
    },
  );

  it.each([[undefined], [1]])(
    'to write ends the turn with its error, at every record, and runs no call that is not stored (delay %s)',
    async (delayMs) => {
      const whole = slowSessions();
      const rich = richTurn({ sessions: whole });
      watch(rich.turn(), (event) => rich.react(event));
      await settle();
      const records = whole.journal('alice').length;
      expect(records).toBeGreaterThan(30);
      for (let place = 0; place < records; place += 1) {
        const sessions = slowSessions(failing('append', place, delayMs));
        const broken = richTurn({ sessions });
        const watched = watch(broken.turn(), (event) => broken.react(event));
        await settle();
        const label = `record ${place}`;
        expectEnded(label, watched);
        const outcome = watched.end;
        expect(outcome, label).toMatchObject({ outcome: 'error', error: { code: 'ENOSPC' } });
        expect([broken.model.active, broken.tools.active, vi.getTimerCount()], label).toEqual([0, 0, 0]);
        expect(watched.types.filter((type) => type === 'model.request').length, label).toBeLessThanOrEqual(
          broken.model.requests.length,
        );
        const stored = sessions.journal('alice').map(({ event }) => event);
        for (const { id } of broken.tools.ran) {
          const isStored = stored.some((event) => event.type === 'tool.call' && event.call.id === id);
          expect(isStored, `${label}: ${id} ran and is not in the journal`).toBe(true);
        }
        expect(sessions.journal('alice').length, `${label}: nothing is written behind a gap`).toBeLessThanOrEqual(
          place + (delayMs === undefined ? 0 : 3),
        );
        const next = watch(
          harness({ model: scriptedModel(['Hello.']), sessions })
            .pipe()
            .turn({ session: 'alice', input: 'And now?' }),
        );
        await settle();
        expect(next.end.outcome, label).toBe('completed');
      }
    },
  );

  it('to write the first record of a turn does not change the turn before it', async () => {
    let isFailing = false;
    const sessions = slowSessions({
      failWith: (operation) => (isFailing && operation === 'append' ? new Error('No.') : undefined),
    });
    const agent = harness({ model: scriptedModel(['One.', 'Two.']), sessions }).pipe();
    watch(agent.turn({ session: 'alice', input: 'first' }));
    await settle();
    const [journal, messages] = [sessions.journal('alice'), sessions.messages('alice')];
    isFailing = true;
    const second = watch(agent.turn({ session: 'alice', input: 'second' }));
    await settle();
    expect(second.end.outcome).toBe('error');
    expect(sessions.journal('alice')).toEqual(journal);
    expect(sessions.messages('alice')).toEqual(messages);
  });

  it('to write while the turn is ending still ends it', async () => {
    for (const delayMs of [undefined, 1]) {
      for (let place = 2; place < 9; place += 1) {
        const sessions = slowSessions(failing('append', place, delayMs));
        const stopper = intercept('stopper', () => ({ decide: { 'tool.call': () => stop('blocked') } }));
        const watched = watch(
          harness({ model: scriptedModel([response(call('1'), call('2'))]), sessions })
            .pipe(stopper)
            .turn({ session: 'alice', input: 'Go.' }),
        );
        await settle();
        expectEnded(`record ${place}`, watched);
        expect(watched.end.outcome).toBe('error');
      }
    }
  });

  it('to write the last records after the subscriber left has no effect', async () => {
    for (const delayMs of [undefined, 1]) {
      const sessions = slowSessions(failing('append', 4, delayMs));
      const agent = harness({ model: scriptedModel([{ never: [] }, 'Hello.']), sessions }).pipe();
      const watched = watch(agent.turn({ session: 'alice', input: 'Go.' }));
      await vi.advanceTimersByTimeAsync(30);
      watched.subscription.unsubscribe();
      await settle();
      const next = watch(agent.turn({ session: 'alice', input: 'And now?' }));
      await settle();
      expect(next.end.outcome).toBe('completed');
    }
  });

  it.each([[undefined], [1]])('to close does not delay the end (delay %s)', async (delayMs) => {
    const sessions = slowSessions(failing('close', 0, delayMs));
    const watched = watch(
      harness({ model: scriptedModel(['Hello.']), sessions })
        .pipe()
        .turn({ session: 'alice', input: 'Go.' }),
    );
    await settle();
    expectEnded('', watched);
    expect(watched.end.outcome).toBe('completed');
  });
});

describe('a session with an invalid history', () => {
  const asks: Message = { role: 'assistant', content: [call('1', 'ls')] };
  const result = (id: string): Message => ({
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: id, toolName: 'ls', output: { type: 'text', value: 'a' } }],
  });
  it.each<[string, readonly Message[], string]>([
    ['an orphan result', [user('a'), result('9')], 'orphan-result'],
    ['a missing result', [user('a'), asks], 'missing-result'],
    ['a call id that is used twice', [asks, result('1'), asks, result('1')], 'duplicate-call-id'],
    ['two results for a call', [asks, result('1'), result('1')], 'duplicate-result'],
    ['a result that comes late', [asks, user('wait'), result('1')], 'late-result'],
    ['a lone surrogate', [user('a\ud800')], 'lone-surrogate'],
    ['an empty message', [user('')], 'empty-message'],
  ])('is repaired when it is loaded: %s', async (_, history, problem) => {
    const sessions = slowSessions({ initial: { alice: history } });
    const model = scriptedModel([response(call('1', 'ls')), 'Done.']);
    const watched = watch(
      harness({ model, tools: scriptedTools({ ls: ok('b') }), sessions })
        .pipe()
        .turn({ session: 'alice', input: 'Go.' }),
    );
    await settle();
    expect(watched.end.outcome).toBe('completed');
    expect(watched.all('session.loaded')[0]?.repairs).toMatchObject([{ problem }]);
    expectSound('', sessions.journal('alice'), sessions.messages('alice'));
    if (problem === 'missing-result') expect(JSON.stringify(model.requests[0]?.messages)).toContain(interruptedText);
    const again = watch(
      harness({ model: scriptedModel(['Hi.']), sessions })
        .pipe()
        .turn({ session: 'alice', input: 'Go.' }),
    );
    await settle();
    expect(again.all('session.loaded')[0]?.repairs).toEqual([]);
  });

  it('is loaded unchanged if its history is valid', async () => {
    const history = [user('a'), asks, result('1')];
    const sessions = slowSessions({ initial: { alice: history } });
    const watched = watch(
      harness({ model: scriptedModel(['Hi.']), sessions })
        .pipe()
        .turn({ session: 'alice', input: 'Go.' }),
    );
    await settle();
    const [loaded] = watched.all('session.loaded');
    expect(loaded?.messages.toArray().every((message, index) => message === history[index])).toBe(true);
    expect(loaded?.repairs).toEqual([]);
  });
});
