import { MessageList, type JSONObject, type JSONValue, type Usage } from '@h/turn';
import { priceTable } from '@h/prices';
import { request, response, user } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { addTotals, formatTotals, noTotals, totalsOfCall } from './totals.js';
import { tokenEstimate } from './token-estimate.js';
import { createUsageMeter } from './usage-meter.js';

const used = (input: number, output: number, cacheRead = 0, cacheWrite = 0, reasoning = 0): Usage => ({
  input,
  output,
  cacheRead,
  cacheWrite,
  reasoning,
});

describe('totals', () => {
  it('have no cost if one price is unknown, but a known minimum', () => {
    const totals = [totalsOfCall(used(1000, 10), 0.5, false), totalsOfCall(used(5, 5), undefined, true)].reduce(
      addTotals,
      noTotals,
    );
    expect(totals).toEqual({
      usage: used(1005, 15),
      cost: undefined,
      knownCost: 0.5,
      calls: 2,
      unpricedCalls: 1,
      failedCalls: 1,
    });
    expect(formatTotals(totals)).toBe('at least $0.5000 (1,005 input / 15 output tokens)');
    expect(formatTotals(noTotals)).toBe('$0.0000 (0 input / 0 output tokens)');
    expect(formatTotals(totalsOfCall(used(1, 1), undefined, false))).toBe('unknown cost (1 input / 1 output tokens)');
  });

  it('count a failed call without usage as free', () => {
    expect(totalsOfCall(used(0, 0), undefined, true).cost).toBe(0);
    expect(totalsOfCall(used(0, 0), 0.01, true)).toMatchObject({ cost: 0, knownCost: 0 });
    expect(totalsOfCall(used(0, 0), undefined, false).cost).toBeUndefined();
  });
});

describe('createUsageMeter', () => {
  it.each<[string, () => unknown]>([
    ['NaN', () => Number.NaN],
    ['a negative number', () => -1],
    ['Infinity', () => Infinity],
    ['a string', () => '5'],
    [
      'an error',
      () => {
        throw new Error('No price.');
      },
    ],
  ])('counts a call whose cost is %s as a call without a known price', (_what, costOf) => {
    const meter = createUsageMeter({ costOf: costOf as never });
    meter.begin({ turn: 't', session: 's' });
    meter.record({ turn: 't', usage: used(10, 5), model: 'm' });
    meter.record({ turn: 't', usage: used(10, 5), cost: Number.NaN });
    expect(meter.session('s')).toMatchObject({ usage: used(20, 10), cost: undefined, knownCost: 0, unpricedCalls: 2 });
    const restored = createUsageMeter();
    restored.restore('s', JSON.parse(JSON.stringify(meter.snapshot('s'))) as JSONValue);
    expect(restored.session('s')).toEqual(meter.session('s'));
  });

  it('adds up turns with sub-agents, sessions and the total, once each', () => {
    const meter = createUsageMeter({ costOf: priceTable({ m: { input: 1, output: 1 } }) });
    meter.begin({ turn: 'parent', session: 'alice' });
    meter.begin({ turn: 'child', session: 'alice/1', parent: 'parent' });
    meter.begin({ turn: 'grandchild', session: 'alice', parent: 'child' });
    meter.record({ turn: 'parent', usage: used(1, 0), model: 'm' });
    meter.record({ turn: 'child', usage: used(10, 0), model: 'm' });
    meter.record({ turn: 'grandchild', usage: used(100, 0), model: 'm', failed: true });
    const inputs = [
      meter.turn('parent'),
      meter.turn('child'),
      meter.turn('grandchild'),
      meter.session('alice'),
      meter.session('alice/1'),
      meter.total,
    ].map(({ usage }) => usage.input);
    expect(inputs).toEqual([111, 110, 100, 111, 110, 111]);
    expect(meter.total).toMatchObject({ calls: 3, failedCalls: 1, cost: 111 / 1e6 });
  });

  it('handles circular parents', () => {
    const meter = createUsageMeter();
    meter.begin({ turn: 'a', session: 's', parent: 'b' });
    meter.begin({ turn: 'b', session: 's', parent: 'a' });
    meter.record({ turn: 'a', usage: used(1, 1) });
    expect([meter.turn('a').usage.input, meter.turn('b').usage.input, meter.session('s').usage.input]).toEqual([
      1, 1, 1,
    ]);
  });

  it('counts a repeated call once if it has an id', () => {
    const meter = createUsageMeter();
    meter.begin({ turn: 't', session: 's' });
    for (const ordinal of [1, 2, 2, 1]) meter.record({ turn: 't', usage: used(1, 0), ordinal });
    meter.record({ turn: 't', usage: used(1, 0), ordinal: 1, series: 'side' });
    expect(meter.turn('t').usage.input).toBe(3);
  });

  it('counts a child that a new process resumes once, whether it had ended or not', () => {
    const call = (input: number) => ({ turn: 'child', usage: used(input, 0), cost: 0 });
    const process = () => {
      const meter = createUsageMeter();
      meter.begin({ turn: 'parent', session: 's' });
      return meter;
    };
    const first = process();
    first.begin({ turn: 'child', session: 'c', parent: 'parent' });
    first.record({ ...call(100), ordinal: 1 });
    const running = first.extra('parent');
    first.record({ ...call(20), ordinal: 2 });
    first.end('child');
    first.end('child');
    const resumed = process();
    resumed.addExtra('parent', running);
    resumed.begin({ turn: 'child', session: 'c', parent: 'parent' });
    for (const [index, input] of [100, 20].entries()) resumed.record({ ...call(input), ordinal: index + 1 });
    expect(resumed.turn('parent').usage.input).toBe(120);
    const ended = process();
    ended.addExtra('parent', first.extra('parent'));
    expect(ended.turn('parent').usage.input).toBe(120);
    first.record(call(5));
    expect(first.extra('parent')).toEqual(first.turn('parent'));
  });

  it('drops the least recently used entry', () => {
    const meter = createUsageMeter({ maxTurns: 2, maxSessions: 2 });
    for (const name of ['a', 'b', 'c']) {
      meter.begin({ turn: name, session: name });
      meter.record({ turn: name, usage: used(1, 0) });
    }
    expect(['a', 'b', 'c'].map((name) => meter.turn(name).calls + meter.session(name).calls)).toEqual([0, 2, 2]);
    expect(meter.total.calls).toBe(3);
  });

  it('restores a session from JSON, and rejects anything else', () => {
    const meter = createUsageMeter();
    meter.begin({ turn: 't', session: 's' });
    meter.record({ turn: 't', usage: used(10, 5, 3), cost: 0.25 });
    const kept = JSON.parse(JSON.stringify(meter.snapshot('s'))) as JSONObject;
    const next = createUsageMeter();
    const odds: readonly (JSONValue | undefined)[] = [
      undefined,
      null,
      7,
      'x',
      [],
      {},
      { v: 2 },
      { ...kept, knownCost: -1 },
      { ...kept, usage: { input: 1 } },
      { ...kept, cost: 9 },
    ];
    for (const odd of odds) next.restore('s', odd);
    expect(next.session('s').calls).toBe(0);
    next.restore('s', kept);
    expect(next.session('s')).toEqual(meter.session('s'));
    next.restore('s', createUsageMeter().snapshot('s'));
    expect(next.session('s').calls).toBe(1);
  });

  it.each([
    [{ prices: 1 }, '"prices"'],
    [{ maxTurns: 0 }, '"maxTurns"'],
    [{ maxSessions: 0 }, '"maxSessions"'],
    [{ maxTurns: Infinity }, '"maxTurns"'],
    [{ maxSessions: Infinity }, '"maxSessions"'],
    [{ costOf: 1 }, '"costOf"'],
  ])('rejects %j', (options, message) => {
    expect(() => createUsageMeter(options as never)).toThrow(message);
  });
});

describe('tokenEstimate', () => {
  it('counts the input and the output of each request', () => {
    const estimate = tokenEstimate();
    const first = request({ system: [{ text: 'a'.repeat(100) }], messages: [user('b'.repeat(100))] });
    estimate.sent(first);
    estimate.sent({ ...first, messages: first.messages.append({ role: 'assistant', content: 'b'.repeat(200) }) });
    estimate.received(response('c'.repeat(40)));
    const afterAnswer = Math.floor((200 + 400 + 44) / 4);
    expect(estimate.tokens()).toBe(afterAnswer);
    estimate.sent({ ...first, messages: MessageList.of([user('x'.repeat(4))]) });
    expect(estimate.tokens()).toBe(afterAnswer + 26);
  });
});
