import { AsyncLocalStorage } from 'node:async_hooks';
import {
  harness,
  intercept,
  notice,
  type Agent,
  type NewEvent,
  type TurnEvent,
  type TurnEventOf,
  type TurnOperator,
} from '@h/turn';
import { call, event, response, scriptedModel, scriptedTools, user } from '@h/turn/testing';
import { Observable, Subject, type Subscriber } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { settled } from '../../test/settled.js';
import { virtualTime } from '../../test/virtual-time.js';
import type { LaneError } from '../errors.js';
import { createLanes } from './lanes.js';
import type { LanesOptions } from './lanes-options.js';
import { queue } from '../queue.js';
import type { QueueOptions } from '../queue-options.js';

/** Asks a person about every `edit` and about the result of every `check`, as hooks do, behind the queue. */
const approvals = (expiring: Set<() => void>): TurnOperator =>
  intercept('approvals', ({ emit }) => {
    const open = new Map<string, Subscriber<NewEvent | undefined>>();
    const ask = ({ turn, call: { id: callId } }: TurnEventOf<'tool.call' | 'tool.result'>) =>
      new Observable<NewEvent | undefined>((subscriber) => {
        const id = `${turn}/${callId}`;
        open.set(id, subscriber);
        expiring.add(() => {
          emit(notice('approval.answer', { id, decision: 'deny' }));
          subscriber.complete();
        });
        emit(notice('approval.request', { id, reason: 'May it?' }));
      });
    return {
      observe: {
        'approval.answer': ({ id }) => {
          open.get(id)?.complete();
          open.delete(id);
        },
      },
      decide: {
        'tool.call': (event) => (/^(edit|paint)/.test(event.call.name) ? ask(event) : undefined),
        'tool.result': (event) => (event.call.name === 'check' ? ask(event) : undefined),
      },
    };
  });

const calls = (...names: readonly string[]) => response(...names.map((name) => call(name, name)));

const caller = new AsyncLocalStorage<string>();

/** Creates an agent whose turns ask before they `edit`, with its lanes, in virtual time. */
const stage = (
  lanesOptions: LanesOptions,
  script: Parameters<typeof scriptedModel>[0],
  queueOptions: QueueOptions = {},
) => {
  const time = virtualTime();
  const { scheduler } = time;
  const lanes = createLanes({ graceMs: 200, scheduler, ...lanesOptions });
  const model = scriptedModel(script, { delayMs: 10, scheduler });
  const ran: string[] = [];
  const slow: (() => void)[] = [];
  const expiring = new Set<() => void>();
  const heard: unknown[] = [];
  const tool = (name: string) => (): string => {
    ran.push(name);
    return 'Done.';
  };
  const tools = scriptedTools({
    ...Object.fromEntries(['edit', 'edit2', 'check'].map((name) => [name, tool(name)])),
    paint: async () => {
      heard.push(caller.getStore());
      // It would deadlock.
      heard.push(await lanes.run('asks', () => 'admitted').catch(({ code }: LaneError) => code));
      return 'Done.';
    },
    slow: () => new Promise<string>((resolve) => slow.push(() => resolve('At last.'))),
  });
  const agent: Agent = harness({ model, tools, scheduler }).pipe(queue(lanes, queueOptions), approvals(expiring));
  const advance = async (ms: number): Promise<void> => {
    for (let done = 0; done < ms; done += 10) {
      await settled(20);
      time.advance(10);
      await settled(20);
    }
  };
  const begin = (session: string, more: Partial<Parameters<Agent['turn']>[0]> = {}) => {
    const events: TurnEvent[] = [];
    const subscription = agent
      .turn({ session, input: 'Hi', id: session, ...more })
      .subscribe((one) => events.push(one));
    const types = () => events.map(({ type }) => type);
    return { events, subscription, types, end: () => events.find(({ type }) => type === 'turn.end') };
  };
  const states = (): readonly string[] =>
    lanes.snapshot().sessions.map(({ session, running }) => `${session} ${running?.state ?? 'waits'}`);
  const active = (): number => Object.values(lanes.snapshot().active).reduce((sum, count) => sum + count, 0);
  return {
    time,
    lanes,
    model,
    agent,
    ran,
    heard,
    slow,
    expire: () => expiring.forEach((one) => one()),
    advance,
    begin,
    states,
    active,
  };
};

const never = { never: ['Let me think'] } as const;

describe('a turn that waits for a person', () => {
  it('lends its slot, and resumes after its answer once it has a slot again', async () => {
    const { begin, advance, agent, ran, states, model, lanes, time, active } = stage({ concurrency: 1 }, [
      calls('edit'),
      never,
      'Edited.',
    ]);
    const asks = begin('asks');
    await advance(100);
    expect(asks.types()).toContain('approval.request');
    expect([time.timers, active()]).toEqual([1, 0]);
    const other = begin('other');
    await advance(100);
    expect(states()).toEqual(['asks away', 'other running']);
    expect(agent.answer('asks/edit', 'once')).toBe(true);
    await advance(5000);
    expect([ran, states(), active()]).toEqual([[], ['asks returning', 'other running'], 1]);
    expect(model.requests).toHaveLength(2);
    other.subscription.unsubscribe();
    await advance(100);
    expect(ran).toEqual(['edit']);
    expect(asks.end()).toMatchObject({ outcome: 'completed' });
    expect(asks.types().filter((type) => type === 'approval.answer')).toHaveLength(1);
    expect(lanes.snapshot().sessions).toEqual([]);
    expect(time.timers).toBe(0);
  });

  it('lends its slot to waiting requests', async () => {
    const { begin, advance, states } = stage({ concurrency: 1 }, [calls('edit'), never]);
    begin('asks');
    begin('other');
    expect(states()).toEqual(['asks running', 'other waits']);
    await advance(20);
    expect(states()).toEqual(['asks away', 'other running']);
  });

  it('resumes before turns that have not begun', async () => {
    const { begin, advance, agent, states } = stage({ concurrency: 1 }, [calls('edit'), never, never, never]);
    begin('asks');
    await advance(100);
    const second = begin('second');
    begin('third');
    await advance(100);
    agent.answer('asks/edit', 'once');
    await advance(100);
    second.subscription.unsubscribe();
    await advance(100);
    expect(states()).toEqual(['asks running', 'third waits']);
  });

  it('keeps its session', async () => {
    const { begin, advance, states } = stage({ concurrency: 1 }, [calls('edit'), never]);
    begin('asks');
    await advance(100);
    const later = begin('asks', { id: 'later' });
    begin('other');
    await advance(500);
    expect(states()).toEqual(['asks away', 'other running']);
    expect(later.types()).toEqual(['queue.waiting']);
  });

  it('resumes at once while its slot is free', async () => {
    const { begin, advance, agent, ran, states } = stage({ concurrency: 1 }, [calls('edit'), never, never]);
    begin('asks');
    await advance(100);
    const other = begin('other');
    await advance(100);
    other.subscription.unsubscribe();
    expect(states()).toEqual(['asks away']);
    agent.answer('asks/edit', 'once');
    await settled();
    expect([ran, states()]).toEqual([['edit'], ['asks running']]);
  });

  it('releases its group slots', async () => {
    const options = { concurrency: 5, groups: { tenant: { concurrency: 1 } } };
    const { begin, advance, states, agent, lanes, ran } = stage(options, [calls('edit'), never], {
      groupsOf: () => ({ tenant: 'acme' }),
    });
    begin('asks');
    await advance(100);
    begin('other');
    await advance(100);
    expect(states()).toEqual(['asks away', 'other running']);
    agent.answer('asks/edit', 'once');
    await advance(100);
    expect([ran, lanes.snapshot().groups]).toEqual([[], [{ kind: 'tenant', key: 'acme', active: 1, concurrency: 1 }]]);
  });

  it('may be one of many that wait at once', async () => {
    const { begin, advance, agent, ran, states, active } = stage({ concurrency: 2 }, [
      ...Array.from({ length: 6 }, () => calls('edit')),
      ...Array.from({ length: 6 }, () => 'Done.'),
    ]);
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const turns = names.map((name) => begin(name));
    await advance(1000);
    expect(turns.map(({ types }) => types().includes('approval.request'))).toEqual(names.map(() => true));
    for (const name of names) agent.answer(`${name}/edit`, 'once');
    expect(states().filter((state) => state.endsWith('running'))).toHaveLength(2);
    for (let round = 0; round < 20; round += 1) {
      await advance(10);
      expect(active()).toBeLessThanOrEqual(2);
    }
    expect(turns.map(({ end }) => end())).toEqual(
      names.map(() => expect.objectContaining({ outcome: 'completed' }) as object),
    );
    expect(ran).toHaveLength(6);
  });

  it('holds each of several answers, and lends its slot again between them', async () => {
    const { begin, advance, agent, states, ran } = stage({ concurrency: 1 }, [calls('edit', 'paint'), never, never]);
    const asks = begin('asks');
    const answers = (): number => asks.types().filter((type) => type === 'approval.answer').length;
    await advance(100);
    const other = begin('other');
    await advance(100);
    agent.answer('asks/edit', 'once');
    await advance(100);
    begin('third');
    expect(answers()).toBe(0);
    other.subscription.unsubscribe();
    await settled();
    expect([answers(), states()]).toEqual([1, ['asks away', 'third running']]);
    agent.answer('asks/paint', 'deny');
    await advance(100);
    expect([answers(), states(), ran]).toEqual([1, ['asks returning', 'third running'], []]);
  });

  it('runs in the context of the answer, not of the released slot, and within its own lease', async () => {
    const { begin, advance, agent, heard } = stage({ concurrency: 1 }, [calls('paint'), never, never]);
    caller.run('asker', () => begin('asks'));
    await advance(100);
    const other = caller.run('another', () => begin('other'));
    await advance(100);
    caller.run('answerer', () => agent.answer('asks/paint', 'once'));
    await advance(100);
    caller.run('another', () => other.subscription.unsubscribe());
    await advance(100);
    expect(heard).toEqual(['answerer', 'lane-reentered']);
  });

  it('passes simultaneous answers together', async () => {
    const { begin, advance, agent, states, ran } = stage({ concurrency: 1 }, [calls('edit', 'edit2'), never, never]);
    begin('asks');
    await advance(100);
    const other = begin('other');
    await advance(100);
    for (const name of ['edit', 'edit2']) agent.answer(`asks/${name}`, 'once');
    await advance(300);
    expect([ran, states()]).toEqual([[], ['asks returning', 'other running']]);
    other.subscription.unsubscribe();
    await advance(10);
    expect([ran, states()]).toEqual([['edit', 'edit2'], ['asks running']]);
  });

  it('passes results of other tools at once, and waits for a slot before its next step', async () => {
    const { begin, advance, states, slow, model, expire } = stage({ concurrency: 1 }, [
      calls('check', 'slow'),
      never,
      never,
    ]);
    const asks = begin('asks');
    await advance(100);
    const other = begin('other');
    await advance(100);
    const results = (): number => asks.types().filter((type) => type === 'tool.result').length;
    slow[0]?.();
    await advance(100);
    expect([results(), states()]).toEqual([1, ['asks away', 'other running']]);
    expire();
    await advance(300);
    expect([results(), states(), model.requests.length]).toEqual([2, ['asks returning', 'other running'], 2]);
    other.subscription.unsubscribe();
    await advance(100);
    expect([states(), model.requests.length]).toEqual([['asks running'], 3]);
  });

  it.each([true, false])('is cancelled without a slot (answered: %s)', async (isAnswered) => {
    const { begin, advance, agent, states, ran, time } = stage({ concurrency: 1 }, [calls('edit'), never]);
    const controller = new AbortController();
    const asks = begin('asks', { signal: controller.signal });
    await advance(100);
    const other = begin('other');
    await advance(100);
    if (isAnswered) agent.answer('asks/edit', 'once');
    controller.abort('Enough.');
    await advance(10);
    expect(asks.end()).toMatchObject({ outcome: 'cancelled' });
    expect([ran, states()]).toEqual([[], ['other running']]);
    other.subscription.unsubscribe();
    expect(time.timers).toBe(0);
  });

  it.each([true, false])('is stopped at its deadline without a slot (answered: %s)', async (isAnswered) => {
    const { begin, advance, agent, ran, states } = stage(
      { concurrency: 1, idleTimeoutMs: 20_000 },
      [calls('edit'), never],
      { deadlineMs: 1000 },
    );
    const asks = begin('asks');
    await advance(100);
    begin('other');
    await advance(100);
    if (isAnswered) agent.answer('asks/edit', 'once');
    await advance(850);
    expect(asks.end()).toMatchObject({ outcome: 'timed-out', error: { code: 'lane-timed-out' } });
    expect([ran, states()]).toEqual([[], ['other running']]);
  });

  it('may wait past the idle timeout for the answer and for its slot', async () => {
    const { begin, advance, agent, ran, states } = stage({ concurrency: 1, idleTimeoutMs: 500 }, [
      calls('edit'),
      'word '.repeat(300),
      never,
    ]);
    const asks = begin('asks');
    await advance(100);
    const other = begin('other');
    await advance(1200);
    agent.answer('asks/edit', 'once');
    await advance(1200);
    expect([ran, states()]).toEqual([[], ['asks returning', 'other running']]);
    other.subscription.unsubscribe();
    await advance(400);
    expect([ran, asks.end()]).toEqual([['edit'], undefined]);
  });

  it('is stopped by shutdown(), which waits for no slot', async () => {
    const { begin, advance, agent, lanes, ran, time } = stage({ concurrency: 1 }, [calls('edit'), never]);
    const turns = [begin('asks')];
    await advance(100);
    turns.push(begin('other'));
    await advance(100);
    agent.answer('asks/edit', 'once');
    const down = lanes.shutdown();
    await advance(100);
    await down;
    expect(turns.map(({ end }) => end())).toEqual([
      expect.objectContaining({ outcome: 'cancelled' }),
      expect.objectContaining({ outcome: 'cancelled' }),
    ]);
    expect([ran, time.timers]).toEqual([[], 0]);
  });

  it('may finish while the lanes drain', async () => {
    const { begin, advance, agent, lanes, ran } = stage({ concurrency: 1 }, [calls('edit'), 'Other.', 'Edited.']);
    const asks = begin('asks');
    await advance(100);
    begin('other');
    const drained = lanes.drain();
    await advance(200);
    agent.answer('asks/edit', 'once');
    await advance(100);
    await drained;
    expect([ran, asks.end()]).toEqual([['edit'], expect.objectContaining({ outcome: 'completed' })]);
  });

  it.each(['before', 'after'])('releases everything when its subscriber leaves %s it is answered', async (when) => {
    const { begin, advance, agent, states, time } = stage({ concurrency: 1 }, [calls('edit'), never]);
    const asks = begin('asks');
    await advance(100);
    const other = begin('other');
    await advance(100);
    if (when === 'after') agent.answer('asks/edit', 'once');
    await advance(100);
    asks.subscription.unsubscribe();
    expect(states()).toEqual(['other running']);
    other.subscription.unsubscribe();
    expect([states(), time.timers]).toEqual([[], 0]);
  });
});

describe('lanes with reserved slots', () => {
  it('keep background turns waiting for an unreserved slot', async () => {
    const { begin, advance, agent, states, ran } = stage({ concurrency: 2, reservedForeground: 1 }, [
      calls('edit'),
      never,
      never,
    ]);
    begin('asks', { trigger: 'cron' });
    await advance(100);
    const other = begin('other', { trigger: 'cron' });
    await advance(100);
    expect(states()).toEqual(['asks away', 'other running']);
    agent.answer('asks/edit', 'once');
    await advance(500);
    expect([states(), ran]).toEqual([['asks returning', 'other running'], []]);
    other.subscription.unsubscribe();
    await advance(20);
    expect([states(), ran]).toEqual([['asks running'], ['edit']]);
  });
});

describe('an answer that is held', () => {
  it('passes after the stop when the turn is asked to stop', async () => {
    const { scheduler } = virtualTime();
    const lanes = createLanes({ concurrency: 1, scheduler });
    const source = new Subject<TurnEvent>();
    const out: string[] = [];
    source.pipe(queue(lanes)).subscribe({ next: ({ type }) => out.push(type), complete: () => out.push('complete') });
    source.next(event('turn.start', { session: 'alice', input: [user('Hi')], trigger: 'user' }));
    source.next(event('approval.request', { id: 'a', reason: 'May it?' }));
    lanes.enter({ session: 'bob' }, { admitted: () => undefined, refused: () => undefined });
    source.next(event('approval.answer', { id: 'a', decision: 'once' }));
    await settled();
    expect(out).toEqual(['turn.start', 'approval.request']);
    void lanes.shutdown();
    source.complete();
    expect(out).toEqual(['turn.start', 'approval.request', 'turn.stop', 'approval.answer', 'complete']);
  });
});
