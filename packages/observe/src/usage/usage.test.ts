import { priceTable } from '@h/prices';
import { harness, MessageList, reply, type JSONObject, type JSONValue, type Usage } from '@h/turn';
import { call, describeOperator, request, response, scriptedModel, scriptedTools, user } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { observe } from '../observe.js';
import { killSwitch } from './kill-switch.js';
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
  it('have no cost as soon as the price of one call is unknown, and say what they cost at least', () => {
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

  it('take a failed call that used nothing for free', () => {
    expect(totalsOfCall(used(0, 0), undefined, true).cost).toBe(0);
    expect(totalsOfCall(used(0, 0), undefined, false).cost).toBeUndefined();
  });
});

describe('createUsageMeter', () => {
  it('adds up turns with their children, sessions and all, once each', () => {
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

  it('is not led in circles by turns that ask for each other', () => {
    const meter = createUsageMeter();
    meter.begin({ turn: 'a', session: 's', parent: 'b' });
    meter.begin({ turn: 'b', session: 's', parent: 'a' });
    meter.record({ turn: 'a', usage: used(1, 1) });
    expect([meter.turn('a').usage.input, meter.turn('b').usage.input, meter.session('s').usage.input]).toEqual([
      1, 1, 1,
    ]);
  });

  it('counts a call again that was counted already only if it cannot tell', () => {
    const meter = createUsageMeter();
    meter.begin({ turn: 't', session: 's' });
    for (const ordinal of [1, 2, 2, 1]) meter.record({ turn: 't', usage: used(1, 0), ordinal });
    meter.record({ turn: 't', usage: used(1, 0), ordinal: 1, series: 'side' });
    expect(meter.turn('t').usage.input).toBe(3);
  });

  it('forgets what was not used for the longest time', () => {
    const meter = createUsageMeter({ maxTurns: 2, maxSessions: 2 });
    for (const name of ['a', 'b', 'c']) {
      meter.begin({ turn: name, session: name });
      meter.record({ turn: name, usage: used(1, 0) });
    }
    expect(['a', 'b', 'c'].map((name) => meter.turn(name).calls + meter.session(name).calls)).toEqual([0, 2, 2]);
    expect(meter.total.calls).toBe(3);
  });

  it('keeps a session as JSON, and takes nothing else for one', () => {
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
    ['maxInputTokens', { maxInputTokens: 100 }, used(100, 0), used(99, 0)],
    ['maxOutputTokens', { maxOutputTokens: 100 }, used(0, 100), used(0, 99)],
    ['maxInputTokens', {}, used(2_000_000, 0), used(1_999_999, 0)],
    ['maxOutputTokens', {}, used(0, 500_000), used(0, 499_999)],
  ])('says that %s is used up at the limit and not before', (limit, limits, all, less) => {
    const exceeded = (usage: Usage) => {
      const meter = createUsageMeter({ limits });
      meter.begin({ turn: 't', session: 's' });
      meter.record({ turn: 't', usage });
      return meter.exceeded('s')?.limit;
    };
    expect([exceeded(all), exceeded(less)]).toEqual([limit, undefined]);
  });

  it('limits dollars by what is known', () => {
    const meter = createUsageMeter({ limits: { maxCost: 1, maxInputTokens: Infinity } });
    meter.begin({ turn: 't', session: 's' });
    meter.record({ turn: 't', usage: used(1, 0), cost: 1 });
    meter.record({ turn: 't', usage: used(1, 0) });
    expect(meter.exceeded('s')).toMatchObject({
      limit: 'maxCost',
      used: 1,
      allowed: 1,
      reason: 'The session has used $1.0000 of the $1 that it may use.',
    });
    expect(meter.exceeded('other')).toBeUndefined();
    expect(createUsageMeter({ limits: { maxInputTokens: 0 } }).exceeded('new')?.limit).toBe('maxInputTokens');
  });

  it('can be killed, for one session or all, and revived', () => {
    const meter = createUsageMeter();
    meter.kill('Runaway.', 'a');
    expect([meter.exceeded('a')?.reason, meter.exceeded('b')]).toEqual(['Runaway.', undefined]);
    meter.kill('Maintenance.');
    expect(meter.exceeded('b')).toMatchObject({ limit: 'killed', reason: 'Maintenance.' });
    meter.revive();
    expect([meter.exceeded('a'), meter.exceeded('b')]).toEqual([undefined, undefined]);
    meter.kill('Again.', 'a');
    meter.revive('a');
    expect(meter.exceeded('a')).toBeUndefined();
  });

  it.each([
    [{ prices: 1 }, '"prices"'],
    [{ limits: { maxTokens: 1 } }, '"limits.maxTokens"'],
    [{ limits: { maxCost: Number.NaN } }, 'received NaN'],
    [{ maxTurns: 0 }, '"maxTurns"'],
    [{ maxSessions: 0 }, '"maxSessions"'],
    [{ costOf: 1 }, '"costOf"'],
  ])('refuses %j', (options, message) => {
    expect(() => createUsageMeter(options as never)).toThrow(message);
  });
});

describe('killSwitch', () => {
  it('ends the turn before the call that would be too much, with a complete transcript', async () => {
    const meter = createUsageMeter({ limits: { maxInputTokens: 25 } });
    const model = scriptedModel(Array.from({ length: 9 }, (_, index) => response(call(String(index), 'ls'))));
    const agent = harness({ model, tools: scriptedTools({ ls: 'a' }) }).pipe(killSwitch(meter), observe({ meter }));
    const { outcome, reason, messages } = await reply(agent.turn({ session: 's', input: 'Go' }));
    expect({ outcome, reason }).toEqual({
      outcome: 'budget-exceeded',
      reason: 'The session has used 30 input tokens of the 25 that it may use.',
    });
    expect(messages.at(-1)?.role).toBe('tool');
    expect(model.requests).toHaveLength(3);
    expect(await reply(agent.turn({ session: 's', input: 'Again' }))).toMatchObject({ outcome: 'budget-exceeded' });
    expect(model.requests).toHaveLength(3);
  });

  it('refuses what is no meter', () => {
    expect(() => killSwitch({} as never)).toThrow('killSwitch(): "meter" must be an object');
  });

  describeOperator(() => killSwitch(createUsageMeter()));
});

describe('tokenEstimate', () => {
  it('counts what each request sends and what comes back', () => {
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
