import { harness, intercept, reply, type TurnEvent } from '@h/turn';
import { call, event, ok, request, response, scriptedModel, user } from '@h/turn/testing';
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { virtualTime } from '../test/virtual-time.js';
import { createLanes } from './lanes/lanes.js';
import { queue } from './queue.js';

const start = event('turn.start', { session: 'alice', input: [user('Hi')], trigger: 'user' });
const ls = { id: '1', name: 'ls', input: {} };
const delta = (text: string): TurnEvent => event('model.delta', { step: 1, attempt: 1, delta: { type: 'text', text } });
const progress = (value: string | number | null | Record<string, string> | readonly string[]): TurnEvent =>
  event('tool.progress', { step: 1, call: ls, progress: value });

const setUp = () => {
  const time = virtualTime();
  const lanes = createLanes({ idleTimeoutMs: 1000, graceMs: 100, scheduler: time.scheduler });
  const source = new Subject<TurnEvent>();
  const out: string[] = [];
  source.pipe(queue(lanes)).subscribe(({ type }) => out.push(type));
  return { time, lanes, source, out };
};

describe('isProgress', () => {
  it.each<[string, TurnEvent, boolean]>([
    ['accepts a delta of the model', delta('Hm'), true],
    ['an empty word', delta(''), false],
    ['accepts an answer of the model', event('model.response', { step: 1, attempt: 1, ...response('Hi') }), true],
    ['a report of a tool', progress({ line: 'ok' }), true],
    ['accepts a number that a tool reports', progress(0), true],
    ['rejects an empty string of a tool', progress(''), false],
    ['nothing of a tool', progress(null), false],
    ['rejects an empty object of a tool', progress({}), false],
    ['rejects an empty list of a tool', progress([]), false],
    ['a result of a tool', event('tool.result', { step: 1, call: ls, ...ok('a.txt') }), true],
    ['accepts the answer of a person', event('approval.answer', { id: '1', decision: 'once' }), true],
    ['rejects a received message', event('input.received', { id: '1', message: user('Go on') }), false],
    ['a notice', event('queue.dropped', { session: 'alice', count: 1 }), false],
  ])('%s', (_, one, isProgress) => {
    const { time, source, out } = setUp();
    source.next(start);
    time.advance(900);
    source.next(one);
    time.advance(900);
    expect(out.includes('turn.stop')).toBe(!isProgress);
    source.complete();
    expect(time.timers).toBe(0);
  });
});

describe('a turn whose slot was revoked', () => {
  it.each<TurnEvent>([
    event('model.request', { step: 1, attempt: 1, ...request() }),
    event('tool.call', { step: 1, index: 0, call: ls }),
    event('history.append', { origin: 'response', messages: [] }),
    event('history.replace', { origin: 'compaction', messages: [] }),
    event('session.state', { key: 'late', value: 1 }),
  ])('drops the event $type', (one) => {
    const { time, source, out } = setUp();
    source.next(start);
    source.next(one);
    expect(out.at(-1)).toBe(one.type);
    time.advance(1100);
    out.length = 0;
    source.next(one);
    expect(out).toEqual(['queue.fenced', 'turn.stop']);
    source.complete();
  });
});

describe('a slot', () => {
  it('is requested once: a second queue() on the same lanes is refused', async () => {
    const lanes = createLanes();
    const agent = harness({ model: scriptedModel([response(call('1', 'ls'))]) }).pipe(
      queue(lanes),
      intercept('other', () => ({})),
      queue(lanes),
    );
    expect(await reply(agent.turn({ session: 'alice', input: 'Hi' }))).toMatchObject({
      outcome: 'blocked',
      error: { code: 'lane-reentered' },
    });
    expect(lanes.snapshot().sessions).toEqual([]);
  });
});
