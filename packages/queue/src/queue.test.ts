import {
  harness,
  iterate,
  memorySessions,
  reply,
  SessionBusyError,
  stop,
  intercept,
  type Agent,
  type ModelDriver,
  type SessionStore,
  type TurnEvent,
} from '@h/turn';
import { call, event, response, scriptedModel, scriptedTools, user } from '@h/turn/testing';
import { describeOperator, marbles } from '@h/turn/vitest';
import { filter, firstValueFrom, lastValueFrom, Subject, type SchedulerLike, type Subscription } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { settled } from '../test/settled.js';
import { virtualTime } from '../test/virtual-time.js';
import type { Lanes, LaneListener, LaneLease } from './contract.js';
import type { LaneError } from './errors.js';
import { createLanes } from './lanes/lanes.js';
import { queue } from './queue.js';

describeOperator(() => queue(createLanes({ concurrency: 8 }), { laneOf: ({ turn }) => turn }));

/** Collects what a turn emits. */
const watch = (agent: Agent, session: string, more: Partial<Parameters<Agent['turn']>[0]> = {}) => {
  const events: TurnEvent[] = [];
  const subscription = agent.turn({ session, input: 'Hi', ...more }).subscribe((one) => events.push(one));
  const types = (): readonly string[] => events.map(({ type }) => type);
  const end = (): unknown => events.find(({ type }) => type === 'turn.end');
  return { events, subscription, types, end };
};

const never = { never: ['Let me think'] } as const;

describe('queue', () => {
  it('holds a turn until the previous turn of its session has ended', async () => {
    const lanes = createLanes();
    const model = scriptedModel(['One.', 'Two.', 'Three.']);
    const agent = harness({ model }).pipe(queue(lanes));
    const turns = ['first', 'second', 'third'].map((input) => reply(agent.turn({ session: 'alice', input })));
    expect((await Promise.all(turns)).map(({ text, outcome }) => `${text} ${outcome}`)).toEqual([
      'One. completed',
      'Two. completed',
      'Three. completed',
    ]);
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 5]);
    expect(lanes.snapshot().sessions).toEqual([]);
  });

  it('prevents SessionBusyError for concurrent turns of a session', async () => {
    const agent = harness({ model: scriptedModel(['One.', 'Two.']) }).pipe();
    const [, second] = await Promise.all(
      ['first', 'second'].map((input) => reply(agent.turn({ session: 'alice', input }))),
    );
    expect(second?.error).toMatchObject({ name: SessionBusyError.name });
  });

  it('opens no session before the turn is admitted', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const sessions = memorySessions();
    const agent = harness({ model: scriptedModel([never, 'Two.']), sessions }).pipe(queue(lanes));
    const first = watch(agent, 'alice');
    const second = watch(agent, 'bob');
    await settled();
    expect(second.types()).toEqual(['queue.waiting']);
    expect(second.events[0]).toMatchObject({ session: 'bob', for: 'slot', position: 1 });
    expect(agent.running().map(({ session, state }) => `${session} ${state}`)).toEqual(['alice running', 'bob queued']);
    first.subscription.unsubscribe();
    await settled();
    expect(second.types().slice(0, 4)).toEqual(['queue.waiting', 'queue.admitted', 'turn.start', 'session.loaded']);
    expect(second.end()).toMatchObject({ outcome: 'completed' });
  });

  it('admits turns of users before turns of timers', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const agent = harness({ model: scriptedModel([never, 'a', 'b', 'c']) }).pipe(queue(lanes));
    const first = watch(agent, 'first');
    const order: string[] = [];
    const all = (['cron', 'subagent', 'user'] as const).map(async (trigger) => {
      await lastValueFrom(agent.turn({ session: trigger, input: 'Hi', trigger }));
      order.push(trigger);
    });
    await settled();
    first.subscription.unsubscribe();
    await Promise.all(all);
    expect(order).toEqual(['user', 'subagent', 'cron']);
  });

  it('applies laneOf, priorityOf and groupsOf', async () => {
    const lanes = createLanes({ concurrency: 5, groups: { tenant: { concurrency: 1 } } });
    const agent = harness({ model: scriptedModel([never, never, never]) }).pipe(
      queue(lanes, {
        laneOf: ({ session }) => session.split('/')[0] ?? session,
        priorityOf: ({ metadata }) => (metadata?.['isUrgent'] === true ? 'foreground' : 'background'),
        groupsOf: ({ metadata }) => ({ tenant: metadata?.['tenant'] as string | undefined }),
      }),
    );
    const turns = [
      watch(agent, 'alice/1', { metadata: { tenant: 'acme', isUrgent: true } }),
      watch(agent, 'alice/2'),
      watch(agent, 'bob/1', { metadata: { tenant: 'acme' } }),
    ];
    await settled();
    const { sessions } = lanes.snapshot();
    expect(sessions.map(({ session, running, waiting }) => [session, running?.priority, waiting.length])).toEqual([
      ['alice', 'foreground', 1],
      ['bob', undefined, 1],
    ]);
    expect(turns[2]?.events[0]).toMatchObject({ type: 'queue.waiting', group: 'tenant:acme' });
    for (const { subscription } of turns) subscription.unsubscribe();
    expect(lanes.snapshot().sessions).toEqual([]);
  });

  it.each<[string, (agent: Agent) => Promise<unknown>]>([
    ['completes', (agent) => reply(agent.turn({ session: 'alice', input: 'Hi' }))],
    ['is left by its subscriber', async (agent) => watch(agent, 'alice').subscription.unsubscribe()],
    [
      'is left by its iterator',
      async (agent) => {
        for await (const one of iterate(agent.turn({ session: 'alice', input: 'Hi' }))) {
          if (one.type === 'model.request') break;
        }
      },
    ],
    ['is unsubscribed by firstValueFrom()', (agent) => firstValueFrom(agent.turn({ session: 'alice', input: 'Hi' }))],
    ['is aborted', (agent) => reply(agent.turn({ session: 'alice', input: 'Hi', signal: AbortSignal.abort() }))],
  ])('releases the slot when the turn %s', async (_, run) => {
    const lanes = createLanes({ concurrency: 1 });
    const agent = harness({ model: scriptedModel(['One.']) }).pipe(queue(lanes));
    await run(agent);
    await settled();
    expect(lanes.snapshot().sessions).toEqual([]);
  });

  it('releases the slot when another operator fails, blocks or ends the stream', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const broken = intercept('broken', () => ({
      decide: {
        'turn.start': () => {
          throw new Error('No.');
        },
      },
    }));
    const blocks = intercept('blocks', () => ({ decide: { 'turn.start': () => stop('blocked', 'Sunday.') } }));
    for (const other of [broken, blocks]) {
      const agent = harness({ model: scriptedModel([]) }).pipe(queue(lanes), other);
      await reply(agent.turn({ session: 'alice', input: 'Hi' }));
      expect(lanes.snapshot().sessions).toEqual([]);
    }
  });

  it('removes a turn that is cancelled while it waits', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const agent = harness({ model: scriptedModel([never, 'Two.']) }).pipe(queue(lanes));
    const first = watch(agent, 'alice');
    const controller = new AbortController();
    const cancelled = watch(agent, 'alice', { signal: controller.signal });
    const third = watch(agent, 'alice');
    await settled();
    controller.abort('Never mind.');
    await settled();
    expect(cancelled.end()).toMatchObject({ outcome: 'cancelled', reason: 'Never mind.', undelivered: [user('Hi')] });
    first.subscription.unsubscribe();
    await settled();
    expect(third.end()).toMatchObject({ outcome: 'completed' });
  });

  it('withdraws the request of a turn that stops before it was admitted', () => {
    const lanes = createLanes();
    lanes.enter({ session: 'alice' }, { admitted: () => undefined, refused: () => undefined });
    const source = new Subject<TurnEvent>();
    source.pipe(queue(lanes)).subscribe();
    source.next(event('turn.start', { session: 'alice', input: [user('Hi')], trigger: 'user' }));
    expect(lanes.snapshot().waiting).toBe(1);
    source.next(event('turn.stop', { outcome: 'cancelled' }));
    expect(lanes.snapshot().waiting).toBe(0);
  });

  it.each([
    ['too many wait', {}, 'blocked', 'lane-full'],
    ['the lanes are closed', { isClosed: true }, 'cancelled', 'lane-closed'],
  ] as const)(
    'ends a turn that is refused because %s',
    async (_, { isClosed = false }: { isClosed?: boolean }, outcome, code) => {
      const lanes = createLanes({ maxWaitingPerSession: 0 });
      const agent = harness({ model: scriptedModel([never]) }).pipe(queue(lanes));
      const first = watch(agent, 'alice');
      if (isClosed) void lanes.drain();
      expect(await reply(agent.turn({ session: 'alice', input: 'Hi' }))).toMatchObject({ outcome, error: { code } });
      first.subscription.unsubscribe();
    },
  );

  it('refuses a turn that a tool starts in its own session', async () => {
    const lanes = createLanes();
    const inner: { agent?: Agent } = {};
    const tools = scriptedTools({
      again: async () =>
        JSON.stringify((await reply((inner.agent as Agent).turn({ session: 'alice', input: 'Again' }))).error?.code),
    });
    const agent = harness({
      model: scriptedModel([response(call('1', 'again')), 'Done.'], { delayMs: 1 }),
      tools,
    }).pipe(queue(lanes));
    inner.agent = agent;
    const { messages, outcome } = await reply(agent.turn({ session: 'alice', input: 'Hi' }));
    expect(outcome).toBe('completed');
    expect(JSON.stringify(messages)).toContain('lane-reentered');
  });

  it('runs sub-agents in the slots of parents that wait in yieldWhile()', async () => {
    const lanes = createLanes({ concurrency: 2 });
    const child = harness({ model: scriptedModel(['c1', 'c2', 'c3']) }).pipe(queue(lanes));
    let count = 0;
    const ask = async () =>
      (await lanes.yieldWhile(() => reply(child.turn({ session: `child-${(count += 1)}`, input: 'Look' })))).text;
    const model = scriptedModel(
      [...Array.from({ length: 3 }, () => response(call('1', 'ask'))), 'Done.', 'Done.', 'Done.'],
      { delayMs: 1 },
    );
    const parent = harness({ model, tools: scriptedTools({ ask }) }).pipe(queue(lanes));
    const all = await Promise.all(['a', 'b', 'c'].map((session) => reply(parent.turn({ session, input: 'Go' }))));
    expect(all.map(({ outcome }) => outcome)).toEqual(['completed', 'completed', 'completed']);
    expect(lanes.snapshot().sessions).toEqual([]);
  });

  it('admits a turn that a subscriber starts at the end of the previous one', async () => {
    const lanes = createLanes();
    const agent = harness({ model: scriptedModel(['One.', 'Two.']) }).pipe(queue(lanes));
    const second = new Promise<unknown>((resolve) => {
      agent.turn({ session: 'alice', input: 'Hi' }).subscribe((one) => {
        if (one.type === 'turn.end') resolve(reply(agent.turn({ session: 'alice', input: 'And?' })));
      });
    });
    expect(await second).toMatchObject({ text: 'Two.', outcome: 'completed' });
  });

  it('summarizes dropped messages in the next turn', async () => {
    const lanes = createLanes({ maxWaitingPerSession: 1, whenFull: 'summarize' });
    const model = scriptedModel([never, 'Two.']);
    const agent = harness({ model }).pipe(queue(lanes));
    const first = watch(agent, 'alice');
    const [dropped, last] = [
      watch(agent, 'alice', { input: 'Paint it red' }),
      watch(agent, 'alice', { input: 'Paint it blue' }),
    ];
    expect(dropped.end()).toMatchObject({ outcome: 'blocked', error: { code: 'lane-dropped' } });
    await settled();
    first.subscription.unsubscribe();
    await settled();
    expect(last.types()).toContain('queue.dropped');
    const [, request] = model.requests;
    expect([...(request?.messages ?? [])].slice(-2)).toMatchObject([
      {
        content: '[1 earlier message was dropped because too many were waiting. They began:\n- Paint it red]',
        metadata: { internal: true },
      },
      { content: 'Paint it blue' },
    ]);
  });
});

describe('invalid results of the callbacks of queue()', () => {
  const boom = (): never => {
    throw new Error('Boom.');
  };

  it.each([
    ['laneOf() that throws', { laneOf: boom }, /Boom/],
    ['priorityOf() that throws', { priorityOf: boom }, /Boom/],
    ['groupsOf() that throws', { groupsOf: boom }, /Boom/],
    ['an unknown priority', { priorityOf: () => 'urgent' as never }, /"priority" must be .*; received "urgent"/],
    ['an unknown group', { groupsOf: () => ({ tenant: 'acme' }) }, /has no group "tenant"/],
    ['a lane without a name', { laneOf: () => '' }, /"session" must be .*; received ""/],
  ])('end the turn with an error: %s', async (_, options, message) => {
    const lanes = createLanes({ concurrency: 1 });
    const agent = harness({ model: scriptedModel(['Never said.']) }).pipe(queue(lanes, options));
    const { outcome, error } = await reply(agent.turn({ session: 'alice', input: 'Hi' }));
    expect([outcome, error?.message]).toEqual(['error', expect.stringMatching(message)]);
    expect(lanes.snapshot().sessions).toEqual([]);
    expect(await lanes.run('alice', () => 'free')).toBe('free');
  });
});

describe('a subscriber that leaves', () => {
  it.each([
    'queue.waiting',
    'queue.admitted',
    'turn.start',
    'session.loaded',
    'model.request',
    'model.delta',
    'tool.call',
    'tool.result',
    'turn.stop',
    'turn.end',
  ])('at %s releases the slot', async (type) => {
    const lanes = createLanes({ concurrency: 1 });
    const agent = harness({
      model: scriptedModel([response(call('1', 'ls')), 'Done.', 'Next.']),
      tools: scriptedTools({ ls: 'a.txt' }),
    }).pipe(queue(lanes));
    const holder = lanes.enter({ session: 'bob' }, { admitted: () => undefined, refused: () => undefined });
    const events = agent.turn({ session: 'alice', input: 'Hi' });
    const left = firstValueFrom(events.pipe(filter((one) => one.type === type)));
    await settled();
    holder.release();
    expect((await left).type).toBe(type);
    await settled();
    expect(lanes.snapshot()).toMatchObject({ sessions: [], waiting: 0, active: { foreground: 0 } });
  });
});

describe('asynchronous lanes', () => {
  it('get a slot back that they grant after the turn has ended', () => {
    let listener: LaneListener | undefined;
    const released: string[] = [];
    const place = { release: () => void released.push('place'), abort: () => undefined };
    const backend: Pick<Lanes, 'enter'> = {
      enter: (_request, asked) => {
        listener = asked;
        asked.waiting?.({ session: 'alice', for: 'slot', position: 1, waitedMs: 0 });
        return place;
      },
    };
    const source = new Subject<TurnEvent>();
    const subscription = source.pipe(queue(backend)).subscribe();
    source.next(event('turn.start', { session: 'alice', input: [user('Hi')], trigger: 'user' }));
    subscription.unsubscribe();
    expect(released).toEqual(['place']);
    const lease = { release: () => void released.push('lease') };
    listener?.admitted(lease as LaneLease);
    expect(released).toEqual(['place', 'lease']);
  });

  it.each([
    ['nothing', undefined, 'returned undefined; return a handle with release()'],
    ['a promise that rejects', () => Promise.reject(new Error('The database is down.')), 'return a handle'],
    ['an object without release()', () => ({}), 'return a handle'],
  ])('fail the turn if enter() returns %s', async (_, answer, message) => {
    const backend = { enter: () => answer?.() } as unknown as Pick<Lanes, 'enter'>;
    const agent = harness({ model: scriptedModel(['One.']) }).pipe(queue(backend));
    const { outcome, error } = await reply(agent.turn({ session: 'alice', input: 'Hi' }));
    expect(outcome).toBe('error');
    expect(error).toMatchObject({ operator: 'queue', message: expect.stringContaining(message) as string });
  });

  it('that never answer refuse the turn soon after its maxWaitMs, and get the place back', () => {
    const { scheduler, advance } = virtualTime();
    let released = 0;
    const place = { release: () => void (released += 1), abort: () => undefined };
    const agent = harness({ model: scriptedModel(['One.']), scheduler }).pipe(
      queue({ enter: () => place }, { maxWaitMs: 5_000 }),
    );
    const { end } = watch(agent, 'alice');
    advance(5_999);
    expect(end()).toBeUndefined();
    advance(1);
    expect(end()).toMatchObject({ outcome: 'timed-out', error: { code: 'lane-waited-too-long' } });
    expect(released).toBeGreaterThan(0);
  });

  it('get both the place and the lease back, although the release of one fails', async () => {
    const lanes = createLanes();
    const releases: (() => void)[] = [];
    const backend: Pick<Lanes, 'enter'> = {
      enter: (request, listener) => {
        const place = lanes.enter(request, {
          refused: (error) => listener.refused(error),
          admitted: (lease) => {
            releases.push(vi.spyOn(lease, 'release'));
            listener.admitted(lease);
          },
        });
        const release = vi.fn(() => {
          throw new Error('The connection is closed.');
        });
        releases.push(release);
        return { abort: (reason) => place.abort(reason), release };
      },
    };
    const agent = harness({ model: scriptedModel(['One.']) }).pipe(queue(backend));
    expect(await reply(agent.turn({ session: 'alice', input: 'Hi' }))).toMatchObject({ outcome: 'completed' });
    expect(releases).toHaveLength(2);
    for (const release of releases) expect(release).toHaveBeenCalled();
    expect(lanes.snapshot().sessions).toEqual([]);
  });

  it('get a slot back if the turn ends during the request', () => {
    const released: string[] = [];
    const source = new Subject<TurnEvent>();
    const turn: { subscription?: Subscription } = {};
    const backend: Pick<Lanes, 'enter'> = {
      enter: () => {
        turn.subscription?.unsubscribe();
        return { release: () => void released.push('place'), abort: () => undefined };
      },
    };
    turn.subscription = source.pipe(queue(backend)).subscribe();
    source.next(event('turn.start', { session: 'alice', input: [user('Hi')], trigger: 'user' }));
    expect(released).toEqual(['place']);
  });
});

describe('the timeout of a turn', () => {
  const timed = (
    script: Parameters<typeof scriptedModel>[0],
    delayMs: number,
    options: Parameters<typeof queue>[1] = {},
  ) => {
    const time = virtualTime();
    const scheduler: SchedulerLike = time.scheduler;
    const lanes = createLanes({ idleTimeoutMs: 1000, graceMs: 200, deadlineMs: 10_000, scheduler });
    const model = scriptedModel(script, { delayMs, scheduler });
    const before = (): Agent => harness({ model, scheduler }).pipe(queue(lanes, options));
    const advance = async (ms: number): Promise<void> => {
      for (let done = 0; done < ms; done += 100) {
        time.advance(100);
        await settled(10);
      }
    };
    return { time, lanes, model, before, advance };
  };

  it('restarts with each delta, and with nothing else', async () => {
    const { before, advance, time } = timed(['One two three four five six.'], 800);
    const turn = watch(before(), 'alice');
    await advance(6000);
    expect(turn.end()).toMatchObject({ outcome: 'completed' });
    expect(time.timers).toBe(0);
  });

  it('does not restart with empty deltas', async () => {
    const { before, advance } = timed([{ never: ['', '', '', '', ''] }], 500);
    const turn = watch(before(), 'alice');
    await advance(1500);
    expect(turn.end()).toMatchObject({ outcome: 'timed-out', error: { code: 'lane-timed-out' } });
  });

  it('stops a turn that hangs with a valid transcript, and admits the next one', async () => {
    const { before, advance, model, lanes, time } = timed([never, 'Two.'], 10);
    const agent = before();
    const turns = [watch(agent, 'alice'), watch(agent, 'alice')];
    await advance(1500);
    expect(turns.map((turn) => (turn.end() as { outcome?: string } | undefined)?.outcome)).toEqual([
      'timed-out',
      'completed',
    ]);
    expect(model.abandoned).toBe(1);
    expect(lanes.snapshot().sessions).toEqual([]);
    expect(time.timers).toBe(0);
  });

  it('starts again while the turn is at work', async () => {
    let isAtWork = true;
    const { before, advance } = timed([never], 10, { isAtWork: () => isAtWork });
    const turn = watch(before(), 'alice');
    await advance(5000);
    expect(turn.end()).toBeUndefined();
    isAtWork = false;
    await advance(1100);
    expect(turn.end()).toMatchObject({ outcome: 'timed-out' });
  });

  it('stops a turn at its deadline', async () => {
    const { before, advance } = timed(['word '.repeat(100)], 100, { deadlineMs: 2000 });
    const turn = watch(before(), 'alice');
    await advance(2100);
    expect(turn.end()).toMatchObject({ outcome: 'timed-out', error: { name: 'LaneTimeoutError' } });
  });

  it('refuses a turn that has waited for maxWaitMs', async () => {
    const { before, advance } = timed([never], 10, { maxWaitMs: 300 });
    const agent = before();
    const [, second] = [watch(agent, 'alice'), watch(agent, 'alice')];
    await advance(300);
    expect(second.end()).toMatchObject({ outcome: 'timed-out', error: { code: 'lane-waited-too-long' } });
  });

  it('drops events of a turn that continues after its slot was revoked', () => {
    marbles(({ scheduler, hot, expectObservable }) => {
      const lanes = createLanes({ idleTimeoutMs: 5, graceMs: 3, scheduler });
      const events = {
        s: event('turn.start', { session: 'alice', input: [user('Hi')], trigger: 'user' }),
        k: event('session.state', { key: 'late', value: 1 }),
      };
      const out: string[] = [];
      hot('s---k----------k|', events)
        .pipe(queue(lanes))
        .subscribe(({ type }) => out.push(`${scheduler.now()} ${type}`));
      expectObservable(hot('-')).toBe('-');
      scheduler.schedule(
        () =>
          expect(out).toEqual(['0 turn.start', '4 session.state', '5 turn.stop', '15 queue.fenced', '15 turn.stop']),
        20,
      );
    });
  });
});

describe('a turn that is resumed', () => {
  /** Leaves a turn whose process died after the model had called `ls`. */
  const interrupted = async (): Promise<SessionStore> => {
    const sessions = memorySessions();
    const open = await sessions.open('alice');
    const start = event('turn.start', { session: 'alice', input: [user('Hi')], trigger: 'user' });
    await open.append({ v: 1, seq: 0, event: start, derived: false });
    await open.close();
    return sessions;
  };

  it('acquires a slot before waiting requests of its session, and holds its events until then', async () => {
    const lanes = createLanes({ concurrency: 1 });
    const holder = lanes.enter({ session: 'bob' }, { admitted: () => undefined, refused: () => undefined });
    lanes.enter({ session: 'alice' }, { admitted: () => undefined, refused: () => undefined });
    const model = scriptedModel(['Done.']);
    const agent = harness({ model, sessions: await interrupted() }).pipe(queue(lanes));
    const out: string[] = [];
    agent.resume('turn-1').subscribe(({ type }) => out.push(type));
    await settled();
    expect([out, model.requests]).toEqual([['turn.start', 'queue.waiting'], []]);
    const alice = lanes.snapshot().sessions.find(({ session }) => session === 'alice');
    expect(alice?.waiting.map(({ label }) => label)).toEqual(['turn-1', undefined]);
    holder.release();
    await settled();
    expect([out.at(-1), model.requests.length]).toEqual(['turn.end', 1]);
  });

  it('holds its session: its own request for that session is refused', async () => {
    const lanes = createLanes();
    const codes: unknown[] = [];
    const model: ModelDriver = async () => {
      await lanes.run('alice', () => 'It waits for itself.').catch(({ code }: LaneError) => codes.push(code));
      return { type: 'response', response: response('Done.') };
    };
    const agent = harness({ model, sessions: await interrupted() }).pipe(queue(lanes));
    const { outcome } = await reply(agent.resume('turn-1'));
    expect([outcome, codes]).toEqual(['completed', ['lane-reentered']]);
  });
});

describe('an event of a turn', () => {
  const start = event('turn.start', { session: 'alice', input: [user('Hi')], trigger: 'user' });
  const toolCall = event('tool.call', { step: 1, index: 0, call: { id: '1', name: 'ls', input: {} } });

  it('is held while the slot is lent, whatever its type', () => {
    const slot = { isHeld: true };
    const listeners: LaneListener[] = [];
    const lease = {
      fence: 1,
      resume: () => slot.isHeld,
      within: <Result>(callback: () => Result) => callback(),
      release: () => undefined,
    } as unknown as LaneLease;
    const backend: Pick<Lanes, 'enter'> = {
      enter: (_request, listener) => {
        listeners.push(listener);
        listener.admitted(lease);
        return { release: () => undefined, abort: () => undefined };
      },
    };
    const out: string[] = [];
    const source = new Subject<TurnEvent>();
    source.pipe(queue(backend)).subscribe(({ type }) => out.push(type));
    source.next(start);
    slot.isHeld = false;
    source.next(toolCall);
    expect(out).toEqual(['turn.start']);
    slot.isHeld = true;
    listeners[0]?.returned?.();
    expect(out).toEqual(['turn.start', 'tool.call']);
    source.complete();
  });
});

describe('the options of queue()', () => {
  it.each([
    [createLanes(), { lane: 'x' }, /queue\(\): unknown option "lane"/],
    [createLanes(), { graceMs: 'long' }, /"graceMs" must be a number from 0 or Infinity; received "long"/],
    [{}, {}, /"lanes" must be lanes that createLanes\(\) made/],
  ])('are checked', (lanes, options, message) => {
    expect(() => queue(lanes as never, options as never)).toThrow(message);
  });
});
