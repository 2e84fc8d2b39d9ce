import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StationRun, StationTrace } from '../../api/contract.js';
import { arrangeFlow, statusesOf, takenEdges } from './flow-graph.js';
import { hrefOf, parseRoute, tokenIn, type Route } from './route.js';
import { RowHeights } from './row-heights.js';
import { ServerEventParser, type ServerEvent } from './sse.js';
import { chartOf } from './usage-chart.js';
import { arrangeTrace, niceStep } from './waterfall.js';

describe('row heights', () => {
  it('agrees with sums over all rows', () => {
    const change = fc.oneof(
      fc.record({ resize: fc.nat(200) }),
      fc.record({ row: fc.nat(220), height: fc.integer({ min: 0, max: 500 }) }),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), fc.nat(20_000), (changes, offset) => {
        const heights = new RowHeights(50);
        let model: number[] = [];
        for (const each of changes) {
          if ('resize' in each) {
            heights.resize(each.resize);
            model = Array.from({ length: each.resize }, (_, row) => model[row] ?? 50);
          } else {
            heights.set(each.row, each.height);
            if (each.row < model.length) model[each.row] = each.height;
          }
        }
        const sums = model.map((_, row) => model.slice(0, row).reduce((sum, height) => sum + height, 0));
        expect(model.map((_, row) => heights.offset(row))).toEqual(sums);
        const row = heights.rowAt(offset);
        expect(row).toBe(
          Math.max(
            0,
            sums.findLastIndex((sum) => sum <= offset),
          ),
        );
      }),
    );
  });
});

describe('server-sent events', () => {
  it('reads the same events however the stream is cut', () => {
    const stream = ': hello\r\n\r\nevent: turn\r\nid: 7\r\ndata: {"a":1}\r\n\r\ndata: x\ndata:y\n\nid\ndata\n\n';
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length), { maxLength: 12 }), (cuts) => {
        const parser = new ServerEventParser();
        const places = [0, ...cuts.toSorted((left, right) => left - right), stream.length];
        const events: ServerEvent[] = [];
        for (const [index, place] of places.slice(1).entries()) {
          events.push(...parser.push(stream.slice(places[index], place)));
        }
        expect(events).toEqual([
          { event: 'turn', data: '{"a":1}', id: '7' },
          { event: 'message', data: 'x\ny', id: null },
          { event: 'message', data: '', id: '' },
        ]);
      }),
    );
  });
});

describe('addresses', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).filter((id) => id.isWellFormed());
  it('leads back to the view that it was made for', () => {
    const route = fc.oneof(
      fc.record({ view: fc.constantFrom('sessions', 'approvals', 'lanes', 'usage') }),
      fc.record({ view: fc.constant('session'), id: name, tab: fc.constantFrom('conversation', 'timeline') }),
      fc.record({ view: fc.constant('workflows'), workflow: name, run: fc.option(name) }),
    );
    fc.assert(
      fc.property(route, (each: Route) => {
        expect(parseRoute(hrefOf(each))).toEqual(each);
      }),
    );
  });
  it('shows the sessions for unknown addresses', () => {
    expect(['', '#', '#/x', '#/sessions/%zz', '#token=a'].map((hash) => parseRoute(hash).view)).toEqual(
      Array.from({ length: 5 }, () => 'sessions'),
    );
    expect([tokenIn('#token=a.b-c_1'), tokenIn('#token='), tokenIn('#/token=a')]).toEqual(['a.b-c_1', null, null]);
  });
});

describe('graph of a workflow', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const states = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 }).chain((used) =>
    fc.tuple(
      ...used.map((name) =>
        fc.record({
          name: fc.constant(name),
          type: fc.constantFrom('agent' as const, 'wait' as const),
          next: fc.uniqueArray(fc.constantFrom(...names, 'end'), { maxLength: 3 }),
        }),
      ),
    ),
  );
  it('places every state once, apart from the others and inside of the picture', () => {
    fc.assert(
      fc.property(states, fc.boolean(), (all, isVertical) => {
        const { nodes, width, height, edges } = arrangeFlow(all, isVertical);
        const expected = new Set([
          ...all.map(({ name }) => name),
          ...(all.some(({ next }) => next.includes('end')) ? ['end'] : []),
        ]);
        expect(new Set(nodes.map((node) => node.name))).toEqual(expected);
        expect(nodes).toHaveLength(expected.size);
        expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(nodes.length);
        expect(nodes.every(({ x, y }) => x >= 0 && y >= 0 && x < width && y < height)).toBe(true);
        for (const { from, to, isBack } of edges) {
          const [source, target] = [from, to].map((each) => nodes.find((node) => node.name === each));
          const axis = isVertical ? 'y' : 'x';
          if (!isBack) expect(source?.[axis]).toBeLessThan(target?.[axis] ?? 0);
        }
      }),
    );
  });
  it('marks the transitions of a run, also those of parallel states', () => {
    const step = (state: string, startedAt: number, endedAt: number | null): StationRun['steps'][number] => ({
      state,
      attempt: 1,
      status: endedAt === null ? 'running' : 'completed',
      startedAt,
      endedAt,
      session: null,
      approval: null,
      output: null,
      error: null,
    });
    const run: StationRun = {
      id: 'r',
      workflow: 'w',
      state: 'running',
      startedAt: 0,
      endedAt: null,
      error: null,
      steps: [step('a', 0, 1), step('b', 1, 4), step('c', 1, 3), step('d', 4, null)],
    };
    const { edges } = arrangeFlow([
      { name: 'a', type: 'parallel', next: ['b', 'c'] },
      { name: 'b', type: 'agent', next: ['d'] },
      { name: 'c', type: 'agent', next: ['d'] },
      { name: 'd', type: 'approval', next: ['a', 'end'] },
    ]);
    expect([...takenEdges(run, edges)]).toEqual(['a\nb', 'a\nc', 'b\nd', 'c\nd']);
    expect(Object.fromEntries(statusesOf(run))).toEqual({
      a: 'completed',
      b: 'completed',
      c: 'completed',
      d: 'running',
    });
  });
});

describe('waterfall', () => {
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cost: 0 };
  it('shows every bar once inside of the axis, whatever its parent', () => {
    const bar = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      parent: fc.option(fc.constantFrom('a', 'b', 'c', 'x')),
      kind: fc.constant('tool' as const),
      label: fc.constant(''),
      startMs: fc.nat(1000),
      endMs: fc.option(fc.integer({ min: 1000, max: 5000 })),
      isFailed: fc.boolean(),
      usage: fc.constant(null),
    });
    fc.assert(
      fc.property(fc.uniqueArray(bar, { selector: ({ id }) => id }), fc.boolean(), (bars, isRunning) => {
        const trace: StationTrace = {
          turn: 't',
          startedAt: 0,
          bars,
          marks: [],
          outcome: isRunning ? null : 'completed',
          usage,
        };
        const { rows, ticks, totalMs } = arrangeTrace(trace, 3000);
        expect(rows.every(({ left, width }) => left >= 0 && width >= 0 && left + width <= 1 + 1e-9)).toBe(true);
        const circular = bars.filter(({ id, parent }) => parent !== null && !rows.some((row) => row.bar.id === id));
        expect(rows.length + circular.length).toBe(bars.length);
        expect(ticks.length).toBeLessThanOrEqual(7);
        expect(totalMs).toBeGreaterThan(0);
      }),
    );
  });
  it('rounds steps up to 1, 2 or 5', () => {
    expect([0.3, 1, 1.1, 4, 700].map(niceStep)).toEqual([0.5, 1, 2, 5, 1000]);
  });
});

it('fills days without usage, sums by agent, and tells of unknown prices', () => {
  const usage = (cost: number | null) => ({ inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cost });
  const row = (day: string, agent: string, cost: number | null) => ({
    day,
    agent,
    model: 'm',
    turns: 1,
    usage: usage(cost),
  });
  const chart = chartOf(
    { days: [row('2026-11-01', 'a', 1), row('2026-11-03', 'b', 3), row('2026-11-03', 'a', null)] },
    '2026-11-01',
    '2026-11-03',
  );
  expect(chart).toMatchObject({ agents: ['b', 'a'], max: 3, isIncomplete: true });
  expect(chart.days.map(({ total }) => total)).toEqual([1, 0, 3]);
});

it('labels ticks of costs differently', () => {
  const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0 };
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (cost) => {
      const row = { day: '2026-11-20', agent: 'a', model: 'm', turns: 1, usage: { ...usage, cost } };
      const { ticks } = chartOf({ days: [row] }, '2026-11-20', '2026-11-20');
      expect(new Set(ticks.map(({ label }) => label)).size).toBe(ticks.length);
      for (const { at, label } of ticks) expect(Number(label.slice(1))).toBeCloseTo(at, 9);
    }),
  );
});
