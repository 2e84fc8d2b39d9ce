import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleRecording } from '../test/sample-recording.js';
import { priceTable } from '@h/prices';
import { buildTrace } from './build-trace.js';
import { formatDuration, oneLine } from './format.js';
import { formatTrace } from './format-trace.js';
import { traceHtml } from './html/trace-html.js';
import { readTrace } from './read-trace.js';
import type { Trace } from './trace.js';

const tracesOf = (text: string, costOf = priceTable({ 'claude-*': { input: 3, output: 15 } })): readonly Trace[] =>
  [...readTrace(text).turns].map(([id, lines]) => buildTrace(id, lines, costOf));
const only = (text: string): Trace => tracesOf(text)[0] as Trace;

const at = (ms: number, event: Record<string, unknown>, more: Record<string, unknown> = {}): string =>
  JSON.stringify({ v: 1, seq: 0, ms, ...more, event: { turn: 't', at: 1000 + ms, ...event } });

describe('buildTrace', () => {
  it('builds a tree of steps with times, tokens, costs and errors', () => {
    const trace = only(sampleRecording({ steps: 4, tools: 2 }));
    expect(trace).toMatchObject({
      outcome: 'completed',
      steps: 4,
      toolCalls: 6,
      models: ['anthropic/claude-sonnet-4-5'],
      trigger: 'user',
      input: 'Make the failing test pass',
    });
    expect(trace.nodes.map(({ name, kind }) => [kind, name])).toEqual(
      [1, 2, 3, 4].map((step) => ['step', `step ${step}`]),
    );
    const [first, , third] = trace.nodes;
    expect(first?.children.map(({ kind, status }) => [kind, status])).toEqual([
      ['model', 'ok'],
      ['tool', 'ok'],
      ['tool', 'ok'],
    ]);
    expect(third?.children[0]).toMatchObject({ kind: 'model', status: 'error', note: 'overloaded: Overloaded' });
    expect(third?.children[1]).toMatchObject({
      name: 'anthropic/claude-sonnet-4-5 (attempt 2)',
      usage: { output: expect.any(Number) as number },
    });
    const costs = trace.nodes.flatMap(({ children }) => children.flatMap(({ cost }) => cost ?? []));
    expect(trace.cost).toBeCloseTo(
      costs.reduce((sum, cost) => sum + cost, 0),
      9,
    );
    expect(only(sampleRecording({ steps: 1, tools: 0 })).cost).toBeGreaterThan(0);
    expect(tracesOf(sampleRecording({ steps: 1, tools: 0 }), () => undefined)[0]?.cost).toBeUndefined();
  });

  it('keeps every node within its turn for any recording', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            ms: fc.integer({ min: 0, max: 1000 }),
            type: fc.constantFrom(
              'turn.start',
              'model.request',
              'model.response',
              'model.error',
              'tool.call',
              'tool.result',
              'odd.notice',
              'turn.end',
            ),
            step: fc.integer({ min: 1, max: 3 }),
            call: fc.option(fc.record({ id: fc.string(), name: fc.string() })),
            durationMs: fc.double(),
            content: fc.anything(),
            usage: fc.anything(),
            error: fc.anything(),
          }),
        ),
        (events) => {
          const lines = events.map(({ ms, ...event }) => at(ms, event));
          for (const trace of tracesOf(lines.join('\n'))) {
            const visit = (nodes: Trace['nodes']): void => {
              for (const node of nodes) {
                expect(node.start).toBeGreaterThanOrEqual(0);
                expect(node.end).toBeGreaterThanOrEqual(node.start);
                expect(node.end).toBeLessThanOrEqual(trace.durationMs + 1e-6);
                visit(node.children);
              }
            };
            visit(trace.nodes);
            expect(formatTrace(trace)).toContain('turn t');
            expect(traceHtml([trace])).toContain('</html>');
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('continues after a resume, whose clock restarts', () => {
    const text = [
      at(500, { type: 'turn.start' }),
      at(700, { type: 'model.request', step: 1, attempt: 1 }),
      at(5, { type: 'model.request', step: 1, attempt: 2, at: 4700 }),
      at(105, { type: 'model.response', step: 1, attempt: 2, at: 4800 }),
      at(106, { type: 'turn.end', outcome: 'completed', at: 4801 }),
    ].join('\n');
    const trace = only(text);
    expect(trace.durationMs).toBe(200 + 3000 + 101);
    expect(trace.nodes[0]?.children.map(({ status, start }) => [status, start])).toEqual([
      ['open', 200],
      ['ok', 3200],
    ]);
  });

  it('starts a tool when its driver ran it, and ends open nodes with the turn', () => {
    const call = { id: '1', name: 'ls' };
    const text = [
      at(0, { type: 'turn.start' }),
      at(10, { type: 'tool.call', call }),
      at(20, { type: 'tool.call', call: { id: '2', name: 'hang' } }),
      at(100, { type: 'tool.result', call, status: 'ok', durationMs: 30 }),
    ].join('\n');
    expect(only(text).nodes).toMatchObject([
      { name: 'ls', start: 70, end: 100, status: 'ok' },
      { name: 'hang', start: 20, end: 100, status: 'open' },
    ]);
  });
});

describe('readTrace', () => {
  it.each([
    '',
    'not json',
    '{}',
    '[]',
    'null',
    '{"v":2}',
    '{"v":1,"ms":1}',
    '{"v":1,"ms":"1","event":{"type":"a","turn":"t","at":1}}',
    '{"v":1,"ms":1,"event":{"type":"a","turn":7,"at":1}}',
  ])('skips the line %j', (line) => {
    expect(readTrace(line)).toEqual({ turns: new Map(), skipped: line === '' ? 0 : 1 });
  });

  it('accepts any turn id as a key', () => {
    const { turns } = readTrace(at(1, { type: 'turn.start', turn: '__proto__' }));
    expect([...turns.keys()]).toEqual(['__proto__']);
  });
});

describe('formatTrace', () => {
  it('formats the turn as a tree', () => {
    const call = { id: '1', name: 'bash', input: { command: 'npm test' } };
    const lines = [
      at(0, { type: 'turn.start', input: [{ role: 'user', content: 'Fix it' }], trigger: 'user' }),
      at(1, { type: 'model.request', step: 1, attempt: 1, model: 'anthropic/claude-x' }),
      at(2101, {
        type: 'model.response',
        finishReason: 'tool-calls',
        usage: { input: 12_000, cacheRead: 9000, output: 240 },
      }),
      at(2102, { type: 'tool.call', call }),
      at(2202, { type: 'tool.result', call, status: 'failed', error: { message: 'Exit 1.' } }),
      at(2203, { type: 'loop.warning', reason: 'The same call again' }),
      at(2204, { type: 'model.request', step: 2, attempt: 1, model: 'anthropic/claude-x' }),
      at(3204, { type: 'model.response', finishReason: 'stop', usage: { input: 100, output: 10 } }),
      at(3205, { type: 'turn.end', outcome: 'completed' }),
    ];
    expect(formatTrace(only(lines.join('\n')))).toBe(`turn t · user · completed · 3.2 s
2 steps · 1 tool call · 12,100 → 250 tokens (74 % cached) · $0.0401 · anthropic/claude-x
“Fix it”
├─ step 1 · 2.2 s
│  ├─ anthropic/claude-x · 2.1 s · 12,000 → 240 tokens (75 % cached) · $0.0396 · tool-calls
│  ├─ bash { "command": "npm test" } · 100 ms · failed
│  └─ loop.warning · The same call again
└─ step 2 · 1.0 s
   └─ anthropic/claude-x · 1.0 s · 100 → 10 tokens · $0.00045 · stop`);
  });

  it('removes control characters of a recording', () => {
    const evil = '\u001b[2J\u001b]0;owned\u0007\r\nfake\u202e';
    const text = [
      at(0, { type: 'turn.start', turn: evil, input: evil, trigger: evil }),
      at(1, { type: 'model.request', turn: evil, step: 1, model: evil }),
      at(2, { type: 'tool.call', turn: evil, call: { id: 'x', name: evil, input: evil } }),
      at(3, { type: 'turn.end', turn: evil, outcome: evil, reason: evil }),
    ].join('\n');
    // oxlint-disable-next-line eslint/no-control-regex -- the test checks that they are removed
    expect(formatTrace(only(text)).replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
  });

  it('formats long texts in linear time', () => {
    const work = (length: number): number => {
      const begin = process.cpuUsage();
      oneLine(' '.repeat(length), 100);
      return process.cpuUsage(begin).user;
    };
    work(100_000);
    // The text is 16 times as long: quadratic work would take 256 times as long.
    expect(work(1_600_000) / Math.max(2_000, work(100_000))).toBeLessThan(100);
  });

  it.each([
    [0, '0 ms'],
    [0.25, '0.25 ms'],
    [3.4, '3 ms'],
    [999.6, '1000 ms'],
    [4210, '4.2 s'],
    [59_960, '1 min 0 s'],
    [125_000, '2 min 5 s'],
    [7_320_000, '2 h 2 min'],
  ])('formats %d ms as %s', (milliseconds, text) => {
    expect(formatDuration(milliseconds)).toBe(text);
  });
});
