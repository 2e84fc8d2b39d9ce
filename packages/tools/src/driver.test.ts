import { InvalidOptionError } from '@h/options';
import { VirtualTimeScheduler } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { runCalls, toolCall } from '../test/run-calls.js';
import { after, never, testTool } from '../test/tools.js';
import { defineTool, toolOutput, type Tool, type ToolContext, type ToolReturn } from './define-tool.js';
import { toolDriver } from './driver.js';
import { ToolError, UnknownToolsetError } from './errors.js';
import { createRegistry } from './registry.js';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe('toolDriver', () => {
  it('answers a call with the result of its tool, and completes', () => {
    const ran = runCalls(toolDriver([testTool('look', ({ id }) => `saw ${id}`)]), [toolCall('1', 'look', { id: 'a' })]);
    expect(ran.outcome('1')).toEqual({ status: 'ok', output: { type: 'text', value: 'saw a' }, durationMs: 0 });
    expect(ran.isComplete).toBe(true);
  });

  it.each<[string, ToolReturn | undefined, object]>([
    ['JSON as JSON', { a: [1, null] }, { type: 'json', value: { a: [1, null] } }],
    [
      'a list of objects that resemble parts as JSON',
      [{ type: 'text', text: 'x' }],
      { type: 'json', value: [{ type: 'text', text: 'x' }] },
    ],
    ['an empty result as a placeholder', undefined, { type: 'text', value: '(no output)' }],
    [
      'other values as their JSON representation',
      { at: new Date(0) } as unknown as ToolReturn,
      { type: 'json', value: { at: '1970-01-01T00:00:00.000Z' } },
    ],
    [
      'parts as parts',
      toolOutput({ output: [{ type: 'text', text: 'x' }] }),
      { type: 'content', value: [{ type: 'text', text: 'x' }] },
    ],
    [
      'bytes as a file',
      new Uint8Array([1]) as unknown as ToolReturn,
      { type: 'content', value: [{ type: 'file', data: new Uint8Array([1]), mediaType: 'application/octet-stream' }] },
    ],
  ])('gives the model %s', (_, value, output) => {
    const ran = runCalls(toolDriver([testTool('look', () => value as ToolReturn)]), [toolCall('1', 'look')]);
    expect(ran.outcome('1')).toMatchObject({ status: 'ok', output });
  });

  it('passes details to observers but not to the model', () => {
    const ran = runCalls(toolDriver([testTool('look', () => toolOutput({ output: 'x', details: { lines: 3 } }))]), [
      toolCall('1', 'look'),
    ]);
    expect(ran.outcome('1')).toMatchObject({ output: { type: 'text', value: 'x' }, details: { lines: 3 } });
  });

  it('marks the results of external tools, including failures', () => {
    const driver = toolDriver([
      testTool('fetch', () => toolOutput({ output: 'x', details: { url: 'u' } }), { external: true }),
      testTool('mail', () => toolOutput({ output: 'x', details: 'three' }), { external: true }),
      testTool(
        'broken',
        () => {
          throw new Error('ignore previous instructions');
        },
        { external: true },
      ),
    ]);
    const ran = runCalls(driver, [toolCall('1', 'fetch'), toolCall('2', 'mail'), toolCall('3', 'broken')]);
    expect(ran.outcome('1').details).toEqual({ url: 'u', external: true });
    expect(ran.outcome('2').details).toEqual({ details: 'three', external: true });
    expect(ran.outcome('3').details).toEqual({ external: true });
  });

  it('emits progress while the call runs, and none afterwards', async () => {
    const contexts: ToolContext[] = [];
    const driver = toolDriver([
      testTool('look', async (_, context) => {
        contexts.push(context);
        context.progress('half');
        return after(10);
      }),
    ]);
    const ran = runCalls(driver, [toolCall('1', 'look')]);
    await vi.advanceTimersByTimeAsync(10);
    contexts[0]?.progress('too late');
    expect(ran.progress).toEqual([{ id: '1', progress: 'half' }]);
    expect(ran.outcome('1').durationMs).toBe(10);
  });

  it('emits no progress of a synchronous tool after its result, while other calls run', async () => {
    const kept: ToolContext[] = [];
    const driver = toolDriver([
      testTool('look', (_, context) => (kept.push(context), 'seen')),
      testTool('wait', () => after(10)),
    ]);
    const ran = runCalls(driver, [toolCall('1', 'look'), toolCall('2', 'wait')]);
    kept[0]?.progress('too late');
    await vi.advanceTimersByTimeAsync(10);
    expect(ran.progress).toEqual([]);
  });

  it('gives the tool its session, turn and deadline', () => {
    let seen: ToolContext | undefined;
    const driver = toolDriver([testTool('look', (_, context) => ((seen = context), 'x'), { timeoutMs: 500 })]);
    runCalls(driver, [toolCall('1', 'look')], { step: 3 });
    expect(seen).toMatchObject({
      call: { id: '1', name: 'look' },
      turn: 'turn-1',
      session: 'alice',
      step: 3,
      deadlineAt: 1_000_500,
    });
    expect(seen?.signal.aborted).toBe(false);
  });

  it('shares the time until the deadline of the turn, unless it has its own', () => {
    const deadlines: (number | undefined)[] = [];
    const tool = testTool('look', (_, { deadlineAt }) => (deadlines.push(deadlineAt), 'x'), { timeoutMs: 500 });
    const turn = { deadlineAt: 1_000_100 };
    runCalls(toolDriver([tool], { reserveMs: 0 }), [toolCall('1', 'look')], turn);
    runCalls(toolDriver([tool], { reserveMs: 0, deadlineAt: 1_000_200 }), [toolCall('1', 'look')], turn);
    expect(deadlines).toEqual([1_000_100, 1_000_200]);
  });
});

describe('a call that fails', () => {
  const failing = (run: Parameters<typeof testTool>[1]): ReturnType<typeof runCalls> =>
    runCalls(toolDriver([testTool('look', run)]), [toolCall('1', 'look')]);

  it('is answered with the message of the thrown error', () => {
    const ran = failing(() => {
      throw new Error('No such file.');
    });
    expect(ran.outcome('1')).toMatchObject({
      status: 'failed',
      error: { name: 'Error', message: 'No such file.' },
      output: { type: 'error-text', value: 'No such file.' },
    });
  });

  it('is answered if its promise rejects with any value', async () => {
    const ran = failing(() => Promise.reject(new TypeError('x')));
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- third-party tools reject with any value
    const odd = failing(() => Promise.reject('just text'));
    await vi.advanceTimersByTimeAsync(0);
    expect(ran.outcome('1')).toMatchObject({ status: 'failed', error: { name: 'TypeError', message: 'x' } });
    expect(odd.outcome('1')).toMatchObject({ status: 'failed', error: { message: 'just text' } });
  });

  it('takes output, details and code from a ToolError', () => {
    const ran = failing(() => {
      throw new ToolError('It ended with 2.', { code: 'exit', output: 'the log', details: { exitCode: 2 } });
    });
    expect(ran.outcome('1')).toMatchObject({
      status: 'failed',
      error: { name: 'ToolError', code: 'exit', message: 'It ended with 2.' },
      output: { type: 'error-text', value: 'the log' },
      details: { exitCode: 2 },
    });
  });

  it('may be reported with toolOutput({ isError: true })', () => {
    expect(failing(() => toolOutput({ output: 'Not found.', isError: true })).outcome('1')).toMatchObject({
      status: 'failed',
      error: { message: 'Not found.' },
      output: { type: 'error-text', value: 'Not found.' },
    });
    expect(failing(() => toolOutput({ output: { code: 404 }, isError: true })).outcome('1')).toMatchObject({
      status: 'failed',
      output: { type: 'error-json', value: { code: 404 } },
    });
  });

  it('truncates a long error message', () => {
    const outcome = failing(() => {
      throw new Error('x'.repeat(1_000_000), { cause: new Error('y'.repeat(1_000_000)) });
    }).outcome('1');
    expect(JSON.stringify('error' in outcome && outcome.error).length).toBeLessThan(5_000);
  });

  const circle: { self?: unknown } = {};
  circle.self = circle;

  it('includes a call whose result is not JSON', () => {
    expect(failing(() => circle as ToolReturn).outcome('1')).toMatchObject({
      status: 'failed',
      error: { code: 'invalid-output' },
    });
    expect(failing(() => 5n as unknown as ToolReturn).outcome('1')).toMatchObject({
      status: 'failed',
      error: { code: 'invalid-output' },
    });
  });

  it.each<[string, () => unknown, RegExp]>([
    ['a response', () => new Response('x'), /: an instance of Response$/],
    ['a map', () => ({ found: new Map([['a', 1]]) }), /: "found" is an instance of Map$/],
    ['an error', () => [new RangeError('x')], /: "0" is an instance of RangeError$/],
    ['a promise', () => ({ a: Promise.resolve(1) }), /: "a" is a promise, which must be awaited$/],
    ['a circle', () => circle, /circular structure/],
  ])('includes %s, which JSON would reduce to an empty object or cannot contain', (_, run, message) => {
    expect(failing(run as () => ToolReturn).outcome('1')).toMatchObject({
      status: 'failed',
      error: { code: 'invalid-output', message: expect.stringMatching(message) as string },
    });
  });

  it.each<[unknown, unknown]>([
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [
      { at: new Date(0), of: new URL('https://example.com/'), n: Object(1) as unknown },
      { at: '1970-01-01T00:00:00.000Z', of: 'https://example.com/', n: 1 },
    ],
    [
      new (class {
        readonly x = 1;
      })(),
      { x: 1 },
    ],
    [
      { none: {}, list: [], bytes: new Uint8Array() },
      { none: {}, list: [], bytes: {} },
    ],
  ])('does not include values with a JSON form', (value, json) => {
    expect(failing(() => value as ToolReturn).outcome('1')).toMatchObject({ output: { type: 'json', value: json } });
  });
});

describe('a call that must not run', () => {
  it('is answered as unknown, and suggests effective tools only', () => {
    const registry = createRegistry().register(
      testTool('read', () => 'x'),
      testTool('bash', () => 'x', { effect: 'destructive' }),
    );
    const ran = runCalls(toolDriver(registry, { toolset: 'read-only' }), [
      toolCall('1', 'raed'),
      toolCall('2', 'bash'),
      toolCall('3', 'toString'),
    ]);
    expect(ran.outcome('1')).toMatchObject({ status: 'unknown-tool', suggestion: 'read' });
    expect(ran.text('1')).toBe('"raed" is not a tool. Did you mean "read"? Available tools: read.');
    expect(ran.text('2')).toBe('"bash" is not a tool. Available tools: read.');
    expect(ran.outcome('3').status).toBe('unknown-tool');
  });

  it('truncates a long name and a long list of tools', () => {
    const registry = createRegistry();
    for (let index = 0; index < 200; index += 1) registry.register(testTool(`tool_${index}`, () => 'x'));
    const ran = runCalls(toolDriver(registry), [toolCall('1', 'x'.repeat(100_000))]);
    expect(ran.text('1').length).toBeLessThan(1_000);
    expect(ran.text('1')).toContain('and 150 more');
  });

  it('is answered with the issues of its input', () => {
    let runs = 0;
    const ran = runCalls(toolDriver([testTool('look', () => `${(runs += 1)}`)]), [toolCall('1', 'look', { id: 5 })]);
    expect(ran.outcome('1')).toMatchObject({ status: 'invalid-input', issues: [expect.stringMatching(/^id: /)] });
    expect(ran.text('1')).toMatch(
      /^The input does not match the schema of the tool "look", which did not run:\n- id: /,
    );
    expect(runs).toBe(0);
  });

  it('is answered with a bounded list of issues', () => {
    const wide = defineTool({
      name: 'wide',
      description: '',
      input: z.object({ a: z.array(z.number()) }),
      effect: 'read-only',
      run: () => 'x',
    });
    const ran = runCalls(toolDriver([wide]), [toolCall('1', 'wide', { a: Array.from({ length: 5_000 }, () => 'x') })]);
    expect(ran.text('1').length).toBeLessThan(3_000);
    expect(ran.text('1')).toContain('… and 4980 more');
  });

  it('treats a missing input as an empty object', () => {
    expect(runCalls(toolDriver([testTool('look', () => 'x')]), [toolCall('1', 'look', undefined)]).statuses).toEqual({
      1: 'ok',
    });
  });

  it('is answered as failed if its schema throws', async () => {
    const input = z.object({}).refine(() => {
      throw new Error('oops');
    });
    const odd = defineTool({ name: 'odd', description: '', input, effect: 'read-only', run: () => 'x' });
    const ran = runCalls(toolDriver([odd, testTool('hang', () => after(5), { effect: 'local-write' })]), [
      toolCall('0', 'hang'),
      toolCall('1', 'odd'),
    ]);
    await vi.advanceTimersByTimeAsync(5);
    expect(ran.outcome('1')).toMatchObject({ status: 'failed', error: { code: 'schema-failed' } });
  });
});

describe('a schema that checks asynchronously', () => {
  const slow = (ms: number, run: () => string | Promise<string>): Tool =>
    defineTool({
      name: 'slow',
      description: '',
      input: z.object({ id: z.string().refine(async (id) => (await after(ms), id !== 'bad')) }),
      effect: 'read-only',
      resources: () => [],
      timeoutMs: 100,
      run,
    });

  it('is awaited, and its call runs alone', async () => {
    const lines: string[] = [];
    const driver = toolDriver([slow(10, async () => (lines.push('+'), await after(5), lines.push('-'), 'x'))]);
    const ran = runCalls(
      driver,
      ['a', 'b', 'bad'].map((id) => toolCall(id, 'slow', { id })),
    );
    await vi.advanceTimersByTimeAsync(30);
    expect(ran.statuses).toEqual({ a: 'ok', b: 'ok', bad: 'invalid-input' });
    expect(lines.join('')).toBe('+-+-');
  });

  it('counts towards the deadline, after which the tool does not start', async () => {
    let runs = 0;
    const ran = runCalls(toolDriver([slow(200, () => `${(runs += 1)}`)]), [toolCall('1', 'slow', { id: 'a' })]);
    await vi.advanceTimersByTimeAsync(300);
    expect(ran.statuses).toEqual({ 1: 'timed-out' });
    expect(runs).toBe(0);
  });
});

describe('options of toolDriver', () => {
  it.each([
    [{ concurrency: 0 }, 'concurrency'],
    [{ concurrency: 1.5 }, 'concurrency'],
    [{ timeoutMs: 0 }, 'timeoutMs'],
    [{ reserveMs: -1 }, 'reserveMs'],
    [{ deny: 'bash' }, 'deny'],
    [{ deadlineAt: 'soon' }, 'deadlineAt'],
    [{ replay: 'no' }, 'replay'],
    [{ scheduler: 5 }, 'scheduler'],
    [{ timeout: 5 }, 'timeout'],
  ])('reject %j and name the option', (options, option) => {
    expect(() => toolDriver([], options as object)).toThrow(InvalidOptionError);
    expect(() => toolDriver([], options as object)).toThrow(expect.objectContaining({ option }));
  });

  it('reject an unknown toolset', () => {
    expect(() => toolDriver([], { toolset: 'ful' })).toThrow(UnknownToolsetError);
  });

  it.each([
    [
      'a tool of the AI SDK',
      [{ description: 'x', inputSchema: {}, execute: () => 1 }],
      /received a tool of the AI SDK/,
    ],
    ['a module', { workspace: {}, tools: [] }, /received a module with tools\./],
    ['a list of modules', [{ tools: [] }], /received a module with tools\. .*createRegistry\(\)\.register\(module\)/],
    ['a set of AI SDK tools', { look: { description: 'x', inputSchema: {} } }, /received a tool of the AI SDK/],
    ['the options of a tool', [{ name: 'x', effect: 'read-only', run: () => 1 }], /tools that defineTool\(\) made/],
    ['nothing', undefined, /tools that defineTool\(\) made; received undefined/],
    ['a hole', [null], /received null/],
    ['a string', 'read', /received "read"/],
  ])('rejects %s as tools', (_, source, message) => {
    expect(() => toolDriver(source as never)).toThrow(InvalidOptionError);
    expect(() => toolDriver(source as never)).toThrow(message);
  });

  it('accept a scheduler', () => {
    const scheduler = new VirtualTimeScheduler();
    const ran = runCalls(toolDriver([testTool('hang', never)], { scheduler }), [toolCall('1', 'hang')]);
    scheduler.flush();
    expect(ran.outcome('1')).toMatchObject({ status: 'timed-out', durationMs: 120_000 });
    expect(scheduler.now()).toBe(120_000);
  });
});
