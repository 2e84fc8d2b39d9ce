import type { ToolCall, ToolEffect } from '@h/turn';
import fc from 'fast-check';
import { from, take } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { runCalls, toolCall } from '../test/run-calls.js';
import { after, never, testTool } from '../test/tools.js';
import { defineTool, type Tool } from './define-tool.js';
import { toolDriver } from './driver.js';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe('waves', () => {
  const log = () => {
    const lines: string[] = [];
    const logged = (name: string, effect: ToolEffect): Tool =>
      testTool(
        name,
        async ({ id }) => {
          lines.push(`+${id}`);
          await after(10);
          lines.push(`-${id}`);
          return 'x';
        },
        { effect },
      );
    return { lines, tools: [logged('read', 'read-only'), logged('write', 'local-write')] };
  };

  it('run reads together and writes alone, in their order', async () => {
    const { lines, tools } = log();
    const ran = runCalls(
      toolDriver(tools),
      ['read a', 'read b', 'write c', 'read d'].map((text, index) => {
        const [name = '', id] = text.split(' ');
        return toolCall(String(index), name, { id });
      }),
    );
    await vi.advanceTimersByTimeAsync(30);
    expect(lines.join(' ')).toBe('+a +b -a -b +c -c +d -d');
    expect(ran.isComplete).toBe(true);
  });

  it('run up to `concurrency` reads at a time, and start the next when one ends', async () => {
    const { lines, tools } = log();
    runCalls(
      toolDriver(tools, { concurrency: 2 }),
      ['a', 'b', 'c'].map((id) => toolCall(id, 'read', { id })),
    );
    expect(lines.join(' ')).toBe('+a +b');
    await vi.advanceTimersByTimeAsync(10);
    expect(lines.join(' ')).toBe('+a +b -a +c -b');
    await vi.advanceTimersByTimeAsync(10);
    expect(lines).toHaveLength(6);
  });

  it('finish 64 reads in the time of the slowest', async () => {
    const driver = toolDriver([testTool('read', ({ id }) => after(Number(id)))]);
    const ran = runCalls(
      driver,
      Array.from({ length: 64 }, (_, index) => toolCall(String(index), 'read', { id: String(index + 1) })),
    );
    await vi.advanceTimersByTimeAsync(63);
    expect(ran.isComplete).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(ran.isComplete).toBe(true);
  });

  it('run a call with unknown resources alone', async () => {
    const seen: string[] = [];
    const odd = defineTool({
      name: 'odd',
      description: '',
      input: z.object({}),
      effect: 'read-only',
      resources: () => {
        throw new Error('oops');
      },
      run: async (_, { call }) => (seen.push(call.id), after(10)),
    });
    runCalls(toolDriver([odd]), [toolCall('1', 'odd'), toolCall('2', 'odd')]);
    expect(seen).toEqual(['1']);
    await vi.advanceTimersByTimeAsync(20);
  });
});

describe('a turn that is steered or ends', () => {
  it('skips calls that have not started when a message arrives, and lets running ones finish', async () => {
    const driver = toolDriver([testTool('write', () => after(10), { effect: 'local-write' })]);
    const ran = runCalls(
      driver,
      ['1', '2', '3'].map((id) => toolCall(id, 'write')),
    );
    await vi.advanceTimersByTimeAsync(5);
    ran.skip();
    await vi.advanceTimersByTimeAsync(5);
    expect(ran.statuses).toEqual({ 1: 'ok', 2: 'skipped', 3: 'skipped' });
    expect(ran.text('2')).toContain('a new message arrived first');
    expect(ran.isComplete).toBe(true);
  });

  it('stops everything when it is unsubscribed', () => {
    const signals: AbortSignal[] = [];
    const driver = toolDriver([testTool('hang', (_, { signal }) => (signals.push(signal), never()))]);
    const ran = runCalls(driver, [toolCall('1', 'hang'), toolCall('2', 'hang', { id: 'b' })]);
    ran.unsubscribe();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(ran.results).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('answers open calls as cancelled when its signal is aborted', () => {
    const driver = toolDriver([testTool('hang', never), testTool('write', () => 'x', { effect: 'local-write' })]);
    const ran = runCalls(driver, [toolCall('1', 'hang'), toolCall('2', 'write')]);
    ran.abort();
    expect(ran.statuses).toEqual({ 1: 'cancelled', 2: 'cancelled' });
    expect(ran.isComplete).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('runs no call if its signal is already aborted', () => {
    let runs = 0;
    const driver = toolDriver([testTool('write', () => `${(runs += 1)}`, { effect: 'local-write' })]);
    const ran = runCalls(driver, [toolCall('1', 'write')], { signal: AbortSignal.abort() });
    expect(ran.statuses).toEqual({ 1: 'cancelled' });
    expect(runs).toBe(0);
  });

  it('records a call that succeeds after the turn has ended', async () => {
    const driver = toolDriver([testTool('send', () => after(100), { effect: 'network' })]);
    runCalls(driver, [toolCall('1', 'send')]).unsubscribe();
    await vi.advanceTimersByTimeAsync(100);
    expect(driver.late.of('alice')).toMatchObject([{ id: '1', reportedAs: 'cancelled' }]);
  });

  it('records a synchronous call that succeeds although the subscriber unsubscribes while it runs', () => {
    const driver = toolDriver([
      testTool('send', (_, context) => (context.progress('begun'), 'sent'), { effect: 'network' }),
    ]);
    const signals = { signal: new AbortController().signal, skipSignal: new AbortController().signal };
    from(driver.run([toolCall('1', 'send')], { turn: 'turn-1', session: 'alice', step: 1, ...signals }))
      .pipe(take(1))
      .subscribe();
    expect(driver.late.of('alice')).toMatchObject([{ id: '1', reportedAs: 'cancelled' }]);
  });

  it('stops a call if the subscriber unsubscribes while it starts', () => {
    let signal: AbortSignal | undefined;
    const driver = toolDriver([
      testTool('hang', (_, context) => ((signal = context.signal), context.progress('begun'), never())),
    ]);
    const signals = { signal: new AbortController().signal, skipSignal: new AbortController().signal };
    const context = { turn: 'turn-1', session: 'alice', step: 1, ...signals };
    from(driver.run([toolCall('1', 'hang')], context))
      .pipe(take(1))
      .subscribe();
    expect(signal?.aborted).toBe(true);
  });
});

describe('every call', () => {
  const kinds = [
    'ok',
    'fails',
    'rejects',
    'slow',
    'hangs',
    'write',
    'write-hangs',
    'unknown',
    'invalid',
    'repeat',
  ] as const;
  const tools = (): readonly Tool[] => [
    testTool('ok', () => 'x'),
    testTool('fails', () => {
      throw new Error('x');
    }),
    testTool('rejects', async () => {
      await after(3);
      throw new Error('x');
    }),
    testTool('slow', () => after(7)),
    testTool('hangs', never, { timeoutMs: 20 }),
    testTool('write', () => after(2), { effect: 'local-write' }),
    testTool('write-hangs', never, { effect: 'destructive', timeoutMs: 20 }),
    defineTool({
      name: 'repeat',
      description: '',
      input: z.object({}),
      effect: 'read-only',
      idempotent: true,
      resources: () => [],
      run: () => after(4),
    }),
  ];
  const callsOf = (names: readonly string[]): readonly ToolCall[] =>
    names.map((name, index) =>
      name === 'invalid' ? toolCall(String(index), 'ok', { id: 1 }) : toolCall(String(index), name),
    );

  it('gets exactly one outcome, for generated calls', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...kinds), { maxLength: 12 }),
        fc.integer({ min: 1, max: 4 }),
        async (names, concurrency) => {
          const ran = runCalls(toolDriver(tools(), { concurrency }), callsOf(names));
          await vi.advanceTimersByTimeAsync(20 * names.length + 20);
          expect(ran.isComplete).toBe(true);
          expect(ran.results.map(({ id }) => id).toSorted()).toEqual(names.map((_, index) => String(index)).toSorted());
        },
      ),
      { numRuns: 200 },
    );
  });

  it('gets exactly one outcome when the turn is aborted or steered at any moment', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...kinds), { maxLength: 8 }),
        fc.nat(40),
        fc.boolean(),
        async (names, ms, isAbort) => {
          const ran = runCalls(toolDriver(tools()), callsOf(names));
          await vi.advanceTimersByTimeAsync(ms);
          if (isAbort) ran.abort();
          else ran.skip();
          await vi.advanceTimersByTimeAsync(200);
          expect(ran.isComplete).toBe(true);
          expect(new Set(ran.results.map(({ id }) => id)).size).toBe(names.length);
          expect(ran.results).toHaveLength(names.length);
          expect(vi.getTimerCount()).toBe(0);
        },
      ),
      { numRuns: 200 },
    );
  });
});
