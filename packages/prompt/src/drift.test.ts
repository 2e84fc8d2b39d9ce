import {
  harness,
  memorySessions,
  type Harness,
  type JSONValue,
  type ModelResponse,
  type SystemBlock,
  type ToolDefinition,
  type TurnEvent,
  type TurnOperator,
} from '@h/turn';
import { call, event, request, response, scriptedModel, scriptedTools, usage } from '@h/turn/testing';
import { lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { comparePrefixes } from './drift.js';
import { fromState, toState, type PrefixPrint } from './kept-prompt.js';
import type { PromptOptions } from './options.js';
import { PromptMemo } from './prompt-memo.js';
import { prompt } from './prompt.js';

const answer = (cacheRead: number, cacheWrite: number): ModelResponse => ({
  ...response('Hi'),
  usage: { ...usage(20_000), cacheRead, cacheWrite },
});

const turnsOf = async (
  agent: ReturnType<Harness['pipe']>,
  inputs: readonly string[],
  session = 'a',
): Promise<readonly TurnEvent[][]> => {
  const turns: TurnEvent[][] = [];
  for (const input of inputs) turns.push(await lastValueFrom(agent.turn({ session, input }).pipe(toArray())));
  return turns;
};

const cacheEvents = (events: readonly TurnEvent[]): readonly TurnEvent[] =>
  events.filter(({ type }) => type.startsWith('cache.'));

describe('prompt, watching the stable prefix', () => {
  it('emits nothing while only volatile sections change', async () => {
    let ticks = 0;
    const options: PromptOptions = {
      frozen: [{ id: 'identity', text: 'You are.' }],
      session: [{ id: 'rules', text: () => 'Use tabs.\r\n' }],
      volatile: [{ id: 'time', text: () => `Tick ${(ticks += 1)}` }],
    };
    const agent = harness({ model: scriptedModel([answer(0, 900), answer(900, 10), answer(910, 10)]) }).pipe(
      prompt(options),
    );
    const turns = await turnsOf(agent, ['One', 'Two', 'Three']);
    expect(turns.flatMap(cacheEvents)).toEqual([]);
    expect(ticks).toBe(3);
  });

  it('reports the changed section, its hashes and the lost cache', async () => {
    let rules = 'Use tabs.';
    const model = scriptedModel([answer(0, 900), answer(100, 800), answer(900, 10)]);
    const agent = harness({ model }).pipe(
      prompt({ frozen: [{ id: 'identity', text: 'You are.' }], session: [{ id: 'rules', text: () => rules }] }),
    );
    const [first] = await turnsOf(agent, ['One']);
    rules = 'Use spaces.';
    const [second, third] = await turnsOf(agent, ['Two', 'Three']);
    expect(cacheEvents(first ?? [])).toEqual([]);
    expect(cacheEvents(third ?? [])).toEqual([]);
    const hash = expect.stringMatching(/^[0-9a-f]{16}$/) as string;
    expect(cacheEvents(second ?? [])).toMatchObject([
      {
        type: 'cache.broken',
        from: 'session',
        changes: [{ part: 'session', id: 'rules', change: 'changed', from: hash, to: hash }],
      },
      { type: 'cache.checked', outcome: 'lost', cacheRead: 100, cachedBefore: 900 },
    ]);
  });

  it('emits cache.broken before the request', async () => {
    let text = 'A';
    const agent = harness({ model: scriptedModel([answer(0, 9), answer(0, 9)]) }).pipe(
      prompt({ session: [{ id: 's', text: () => text }] }),
    );
    await turnsOf(agent, ['One']);
    text = 'B';
    const [events = []] = await turnsOf(agent, ['Two']);
    const types = events.map(({ type }) => type);
    expect(types.indexOf('cache.broken')).toBe(types.indexOf('model.request') - 1);
  });

  it('reports added, removed and changed tools, but not their order', async () => {
    const tool = (name: string, description = name): ToolDefinition => ({
      name,
      description,
      inputSchema: { type: 'object' },
    });
    const lists = [
      [tool('a'), tool('b')],
      [tool('b'), tool('a')],
      [tool('a', 'changed'), tool('c')],
    ];
    let turn = 0;
    const tools = { definitions: () => lists[turn] ?? [], run: () => of() };
    const agent = harness({ model: scriptedModel([answer(0, 9), answer(9, 0), answer(0, 9)]), tools }).pipe(prompt({}));
    const seen: TurnEvent[][] = [];
    for (const input of ['One', 'Two', 'Three']) {
      seen.push(...(await turnsOf(agent, [input])));
      turn += 1;
    }
    expect(seen.map((events) => cacheEvents(events).length)).toEqual([0, 0, 2]);
    expect(cacheEvents(seen[2] ?? [])[0]).toMatchObject({
      from: 'tools',
      changes: [
        { part: 'tools', id: 'a', change: 'changed' },
        { part: 'tools', id: 'c', change: 'added' },
        { part: 'tools', id: 'b', change: 'removed' },
      ],
    });
  });

  it('reports a change within a turn once, even if the request is repeated', async () => {
    const tool = { name: 'more', description: 'More', inputSchema: { type: 'object' } };
    const asked = (step: number, attempt: number, tools: readonly ToolDefinition[]): TurnEvent =>
      event('model.request', { step, attempt, ...request({ tools }) });
    const events = await lastValueFrom(
      of(asked(1, 1, []), asked(2, 1, [tool]), asked(2, 2, [tool])).pipe(prompt({}), toArray()),
    );
    expect(events.map(({ type }) => type)).toEqual(['model.request', 'cache.broken', 'model.request', 'model.request']);
  });

  it('reports a changed system prompt of the harness', async () => {
    const asked = (system: readonly SystemBlock[]): TurnEvent =>
      event('model.request', { step: 1, attempt: 1, ...request({ system }) });
    const events = await lastValueFrom(
      of(asked([{ text: 'A' }]), asked([{ text: 'A' }]), asked([{ text: 'B' }])).pipe(prompt({}), toArray()),
    );
    expect(events.map(({ type }) => type)).toEqual(['model.request', 'model.request', 'cache.broken', 'model.request']);
    expect(events[2]).toMatchObject({ from: 'system', changes: [{ part: 'system', id: '0', change: 'changed' }] });
  });

  it.each([
    ['kept', answer(950, 10)],
    ['unknown', answer(0, 0)],
  ] as const)('tells a cache that is %s from one that is lost', async (outcome, second) => {
    let text = 'A';
    const model = scriptedModel([outcome === 'unknown' ? answer(0, 0) : answer(0, 900), second]);
    const agent = harness({ model }).pipe(prompt({ session: [{ id: 's', text: () => text }] }));
    await turnsOf(agent, ['One']);
    text = 'B';
    expect(cacheEvents((await turnsOf(agent, ['Two']))[0] ?? [])[1]).toMatchObject({ type: 'cache.checked', outcome });
  });

  it('stores the fingerprint in the session state for other processes', async () => {
    const sessions = memorySessions();
    const first = harness({ model: scriptedModel([answer(0, 900)]), sessions }).pipe(
      prompt({ session: [{ id: 's', text: 'A' }] }),
    );
    await turnsOf(first, ['One']);
    const other = harness({ model: scriptedModel([answer(0, 900)]), sessions }).pipe(
      prompt({ session: [{ id: 's', text: 'B' }] }),
    );
    const [events = []] = await turnsOf(other, ['Two']);
    expect(cacheEvents(events)).toMatchObject([{ type: 'cache.broken' }, { type: 'cache.checked', outcome: 'lost' }]);
  });

  it('stores the state once per turn, and again if the prefix changes', async () => {
    const model = scriptedModel([response(call('1', 'ls')), response(call('2', 'ls')), 'Done.']);
    const agent = harness({ model, tools: scriptedTools({ ls: 'a' }) }).pipe(
      prompt({ frozen: [{ id: 'f', text: 'F' }], volatile: [{ id: 't', text: ({ step }) => `${step}` }] }),
    );
    const [events = []] = await turnsOf(agent, ['One']);
    expect(events.filter(({ type }) => type === 'session.state')).toHaveLength(1);
  });

  it('stores the fingerprint in a passed cache for hosts without state', async () => {
    const cache = new PromptMemo();
    const hostTurn = async (operator: TurnOperator): Promise<readonly TurnEvent[]> => {
      const loaded = event('session.loaded', { session: 'a', messages: request().messages, state: {}, repairs: [] });
      const start = event('turn.start', { session: 'a', input: [], trigger: 'user' });
      const events = [
        start,
        loaded,
        event('model.request', { step: 1, attempt: 1, ...request() }),
        event('model.response', { step: 1, attempt: 1, ...answer(0, 9) }),
      ];
      return lastValueFrom(of(...events).pipe(operator, toArray()));
    };
    await hostTurn(prompt({ session: [{ id: 's', text: 'A' }], cache }));
    expect(cacheEvents(await hostTurn(prompt({ session: [{ id: 's', text: 'A' }], cache })))).toEqual([]);
    expect(cacheEvents(await hostTurn(prompt({ session: [{ id: 's', text: 'B' }], cache })))).toMatchObject([
      { type: 'cache.broken' },
      { type: 'cache.checked', outcome: 'lost' },
    ]);
    expect(cacheEvents(await hostTurn(prompt({ session: [{ id: 's', text: 'A' }] })))).toEqual([]);
  });

  it('restores its state from a replay without emitting events', async () => {
    const kept = toState({ prefix: print(['A', '1']), cached: 900 });
    const state = { ...event('session.state', { key: 'prompt', value: kept }), replayed: true as const };
    const asked = event('model.request', { step: 2, attempt: 1, ...request() });
    const events = await lastValueFrom(of(state, asked).pipe(prompt({ session: [{ id: 's', text: 'S' }] }), toArray()));
    expect(events[0]).toBe(state);
    expect(events[1]).toMatchObject({ type: 'cache.broken', from: 'session' });
  });
});

/** A prefix whose session tier is made of these sections, each with its hash. */
const print = (...items: readonly (readonly [id: string, hash: string])[]): PrefixPrint => {
  const empty = new PromptMemo().render([]);
  const parts = items.map(([id, hash]) => ({ id, hash }));
  return {
    tools: empty,
    system: new PromptMemo().print([]),
    frozen: empty,
    session: { hash: JSON.stringify(parts), items: parts },
  };
};

describe('comparePrefixes', () => {
  it('returns no changes for equal prefixes', () => {
    expect(comparePrefixes(print(['a', '1']), print(['a', '1']))).toEqual([]);
  });

  it('reports added, removed and changed sections with id and hash', () => {
    expect(comparePrefixes(print(['a', '1'], ['b', '2']), print(['b', '3'], ['c', '4']))).toEqual([
      { part: 'session', id: 'b', change: 'changed', from: '2', to: '3' },
      { part: 'session', id: 'c', change: 'added', to: '4' },
      { part: 'session', id: 'a', change: 'removed', from: '1' },
    ]);
  });

  it('reports moved sections', () => {
    expect(
      comparePrefixes(print(['a', '1'], ['b', '2'], ['c', '3']), print(['a', '1'], ['c', '3'], ['b', '2'])),
    ).toMatchObject([
      { id: 'c', change: 'moved' },
      { id: 'b', change: 'moved' },
    ]);
  });

  it('reports the whole part if its sections are unknown', () => {
    const before = { ...print(), session: { hash: 'x' } };
    expect(comparePrefixes(before, print(['a', '1']))).toMatchObject([
      { part: 'session', change: 'changed', from: 'x' },
    ]);
  });
});

describe('the stored state', () => {
  it('survives a round trip', () => {
    const kept = { prefix: print(['a', '1'], ['b', '2']), cached: 7 };
    const read = fromState(JSON.parse(JSON.stringify(toState(kept))) as JSONValue);
    expect(read?.cached).toBe(7);
    expect(read && comparePrefixes(kept.prefix, read.prefix)).toEqual([]);
    expect(read?.prefix.session.items).toEqual([
      { id: 'a', hash: '1' },
      { id: 'b', hash: '2' },
    ]);
  });

  it('stores only the hash of a part with many items', () => {
    const many = print(...Array.from({ length: 201 }, (_, index) => [`tool-${index}`, 'x'] as const));
    const { session, ...rest } = toState({ prefix: many, cached: 0 });
    expect(session).toEqual([many.session.hash]);
    expect(fromState({ session, ...rest })?.prefix.session).toEqual({ hash: many.session.hash });
  });

  it.each([
    null,
    1,
    'x',
    [],
    {},
    { v: 2, cached: 0 },
    { v: 1, cached: 'x' },
    { v: 1, cached: 0, tools: 1 },
    { v: 1, cached: 0, tools: ['x', 7], system: ['x'], frozen: ['x'], session: ['x'] },
    { v: 1, cached: 0, tools: ['x', [7]], system: ['x'], frozen: ['x'], session: [1] },
  ])('is ignored when something else has written it: %j', (state) => {
    expect(fromState(state)).toBeUndefined();
  });
});
