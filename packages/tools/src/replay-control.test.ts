import type { ToolEffect } from '@h/turn';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { runCalls, toolCall, type RunCalls } from '../test/run-calls.js';
import { defineTool, toolOutput, type Tool, type ToolReturn } from './define-tool.js';
import { toolDriver, type RegistryDriver, type ToolDriverOptions } from './driver.js';

interface Counted {
  readonly driver: RegistryDriver;
  /** The calls that ran, in order. */
  readonly ran: string[];
  run(...calls: readonly string[]): RunCalls;
}

const counted = (
  more: Partial<Tool> & { readonly result?: (count: number) => ToolReturn } = {},
  options: ToolDriverOptions = {},
): Counted => {
  const ran: string[] = [];
  const tool = (
    name: string,
    effect: ToolEffect,
    idempotent: boolean,
    resources?: (input: { path: string }) => readonly string[] | undefined,
  ): Tool =>
    defineTool({
      name,
      description: name,
      input: z.object({ path: z.string().default('/'), more: z.string().optional() }),
      effect,
      idempotent,
      resources,
      volatile: more.volatile,
      run: (input) => {
        ran.push(`${name} ${input.path}`);
        return more.result?.(ran.length) ?? `${name} ${input.path} #${ran.length}`;
      },
    });
  const file = ({ path }: { path: string }): readonly string[] => [`file:${path}`];
  const driver = toolDriver(
    [
      tool('read', 'read-only', true, file),
      tool('peek', 'read-only', false, file),
      tool('write', 'local-write', true, file),
      tool('bash', 'destructive', false),
      tool('fetch', 'network', true, ({ path }) => [`web:${path}`]),
    ],
    options,
  );
  let calls = 0;
  return {
    driver,
    ran,
    run: (...texts) =>
      runCalls(
        driver,
        texts.map((text) => {
          const [name = '', path] = text.split(' ');
          return toolCall(`c${(calls += 1)}`, name, { path });
        }),
      ),
  };
};

describe('replay control', () => {
  it('answers a repeated idempotent call with the marked result of the first one', () => {
    const { run, ran } = counted();
    run('read /a');
    const again = run('read /a');
    expect(ran).toEqual(['read /a']);
    expect(again.outcome('c2')).toEqual({
      status: 'ok',
      output: {
        type: 'text',
        value: '[Same result as call c1: no tool has changed anything that it depends on since.]\nread /a #1',
      },
      details: { replayOf: 'c1' },
      durationMs: 0,
    });
  });

  it('ignores the order of keys and unknown keys', () => {
    const { driver, ran } = counted();
    runCalls(driver, [toolCall('1', 'read', { path: '/a', more: 'x' })]);
    runCalls(driver, [toolCall('2', 'read', { more: 'x', path: '/a', unknown: 1 })]);
    expect(ran).toHaveLength(1);
  });

  it('distinguishes calls with different inputs', () => {
    const { driver, ran } = counted();
    runCalls(driver, [
      toolCall('1', 'read', { path: 'a', more: 'b' }),
      toolCall('2', 'read', { path: 'a","more":"b' }),
    ]);
    expect(ran).toHaveLength(2);
  });

  it.each([
    ['a write to the same resource', 'write /a', 2],
    ['a write to its parent', 'write /', 2],
    ['a write below it', 'write /a/b', 2],
    ['a write to another resource', 'write /b', 1],
    ['a shell call, which may touch anything', 'bash', 2],
    ['a network call to another resource', 'fetch /a', 1],
    ['another read', 'peek /a', 1],
  ])('after %s (%s), runs the read %i times in total', (_, between, reads) => {
    const { run, ran } = counted();
    run('read /a');
    run(between);
    run('read /a');
    expect(ran.filter((name) => name === 'read /a')).toHaveLength(reads);
  });

  it('considers writes of the same message', () => {
    const { run, ran } = counted();
    run('read /a', 'write /a', 'read /a', 'read /a');
    expect(ran).toEqual(['read /a', 'write /a', 'read /a']);
  });

  it('replays an idempotent write only until another write touches its resource', () => {
    const { driver, ran } = counted();
    const write = (id: string, more: string) => runCalls(driver, [toolCall(id, 'write', { path: '/a', more })]);
    write('1', 'x');
    write('2', 'x');
    expect(ran).toHaveLength(1);
    write('3', 'y');
    write('4', 'x');
    expect(ran).toHaveLength(3);
  });

  it('runs identical idempotent calls of one wave once', () => {
    const { run, ran } = counted();
    const together = run('read /a', 'read /b', 'read /a', 'read /a');
    expect(ran).toEqual(['read /a', 'read /b']);
    expect(together.statuses).toEqual({ c1: 'ok', c2: 'ok', c3: 'ok', c4: 'ok' });
    expect(together.outcome('c4').details).toEqual({ replayOf: 'c1' });
  });

  it('answers coalesced running calls together, including failed ones', async () => {
    const release: (() => void)[] = [];
    const result = () =>
      new Promise<string>((_, reject) => release.push(() => reject(new Error('gone')))) as unknown as ToolReturn;
    const { run, ran } = counted({ result });
    const together = run('read /a', 'read /a');
    expect(ran).toHaveLength(1);
    release[0]?.();
    await expect.poll(() => together.isComplete).toBe(true);
    expect(together.statuses).toEqual({ c1: 'failed', c2: 'failed' });
    expect(together.outcome('c2').details).toEqual({ replayOf: 'c1' });
  });

  it('runs a call again after it failed', () => {
    const { run, ran } = counted({
      result: (count) => (count === 1 ? toolOutput({ output: 'busy', isError: true }) : 'done'),
    });
    expect(run('read /a').statuses).toEqual({ c1: 'failed' });
    expect(run('read /a').text('c2')).toBe('done');
    expect(ran).toHaveLength(2);
  });

  it('always runs tools that are not idempotent, or volatile', () => {
    const plain = counted();
    plain.run('peek /a', 'peek /a');
    plain.run('peek /a');
    expect(plain.ran).toHaveLength(3);
    const volatile = counted({ volatile: true });
    volatile.run('read /a', 'read /a');
    expect(volatile.ran).toHaveLength(2);
  });

  it('replays no result of another turn or session', () => {
    const { driver, ran } = counted();
    const read = (turn: string, session: string) => runCalls(driver, [toolCall('1', 'read')], { turn, session });
    read('t1', 'alice');
    read('t2', 'alice');
    read('t3', 'bob');
    read('t3', 'bob');
    expect(ran).toHaveLength(3);
  });

  it('forgets a turn on request', () => {
    const { driver, run, ran } = counted();
    run('read /a');
    driver.forget('another turn');
    run('read /a');
    expect(ran).toHaveLength(1);
    driver.forget('turn-1');
    run('read /a');
    expect(ran).toHaveLength(2);
  });

  it('limits the size and the number of stored results', () => {
    const big = counted({ result: () => ({ lines: Array.from({ length: 1_000 }, () => 'x'.repeat(1_000)) }) });
    big.run('read /a');
    big.run('read /a');
    expect(big.ran).toHaveLength(2);
    const many = counted();
    many.run('read /first');
    for (let index = 0; index < 64; index += 1) many.run(`read /${index}`);
    many.run('read /first');
    expect(many.ran).toHaveLength(66);
  });

  it('marks text, JSON and parts', () => {
    const json = counted({ result: () => ({ a: 1 }) });
    json.run('read');
    expect(json.run('read').outcome('c2').output).toEqual({
      type: 'content',
      value: [
        { type: 'text', text: expect.stringMatching(/^\[Same result as call c1/) as string },
        { type: 'text', text: '{"a":1}' },
      ],
    });
    const parts = counted({
      result: () => toolOutput({ output: [{ type: 'text', text: 'x' }], details: { lines: 1 } }),
    });
    parts.run('read');
    expect(parts.run('read').outcome('c2')).toMatchObject({
      output: { type: 'content', value: [{ text: expect.stringMatching(/^\[Same/) as string }, { text: 'x' }] },
      details: { lines: 1, replayOf: 'c1' },
    });
  });

  it('can be switched off', () => {
    const { run, ran } = counted({}, { replay: false });
    run('read /a', 'read /a');
    run('read /a');
    expect(ran).toHaveLength(3);
  });

  it('stores no read that overlaps a late write', async () => {
    const finish: Record<string, () => void> = {};
    let reads = 0;
    const make = (name: string, more: Partial<Tool>): Tool =>
      defineTool({
        name,
        description: '',
        input: { type: 'object' },
        effect: more.effect ?? 'read-only',
        idempotent: more.idempotent,
        timeoutMs: more.timeoutMs,
        resources: () => ['file:/a'],
        run: () => new Promise<string>((resolve) => (finish[name] = () => resolve(`${name} ${(reads += 1)}`))),
      });
    const driver = toolDriver([
      make('write', { effect: 'local-write', timeoutMs: 1 }),
      make('read', { idempotent: true }),
    ]);
    const first = runCalls(driver, [toolCall('1', 'write'), toolCall('2', 'read')]);
    await expect.poll(() => Object.keys(finish)).toEqual(['write', 'read']);
    finish['write']?.();
    await expect.poll(() => driver.late.of('alice')).toHaveLength(1);
    finish['read']?.();
    await expect.poll(() => first.isComplete).toBe(true);
    const second = runCalls(driver, [toolCall('3', 'read')]);
    finish['read']?.();
    await expect.poll(() => second.isComplete).toBe(true);
    expect(second.outcome('3').details).toBeUndefined();
  });

  it('counts a late write as another write when it completes', async () => {
    let finish: () => void = () => undefined;
    const ran: string[] = [];
    const slow = defineTool({
      name: 'slow_write',
      description: '',
      input: { type: 'object' },
      effect: 'local-write',
      resources: () => ['file:/a'],
      timeoutMs: 1,
      run: () => new Promise<string>((resolve) => (finish = () => resolve('written'))),
    });
    const read = defineTool({
      name: 'read',
      description: '',
      input: { type: 'object' },
      effect: 'read-only',
      idempotent: true,
      resources: () => ['file:/a'],
      run: () => String(ran.push('read')),
    });
    const driver = toolDriver([slow, read]);
    const first = runCalls(driver, [toolCall('1', 'slow_write'), toolCall('2', 'read')]);
    await expect.poll(() => first.statuses).toEqual({ 1: 'timed-out', 2: 'ok' });
    runCalls(driver, [toolCall('3', 'read')]);
    expect(ran).toHaveLength(1);
    finish();
    await expect.poll(() => driver.late.of('alice')).toHaveLength(1);
    runCalls(driver, [toolCall('4', 'read')]);
    expect(ran).toHaveLength(2);
  });
});
