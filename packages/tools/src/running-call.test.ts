import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCalls, toolCall } from '../test/run-calls.js';
import { after, never, testTool } from '../test/tools.js';
import { toolDriver } from './driver.js';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe('a call that outlives its deadline', () => {
  it('is answered as timed out, its signal is aborted, and later output is ignored', async () => {
    let signal: AbortSignal | undefined;
    const driver = toolDriver([
      testTool('look', (_, context) => ((signal = context.signal), after(500)), {
        timeoutMs: 100,
        effect: 'local-write',
      }),
    ]);
    const ran = runCalls(driver, [toolCall('1', 'look')]);
    await vi.advanceTimersByTimeAsync(100);
    expect(ran.outcome('1')).toMatchObject({ status: 'timed-out', timeoutMs: 100, durationMs: 100 });
    expect(ran.text('1')).toContain('may still be running');
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toMatchObject({ name: 'TimeoutError' });
    expect(ran.isComplete).toBe(true);
    await vi.advanceTimersByTimeAsync(400);
    expect(ran.results).toHaveLength(1);
  });

  it('is answered with the result that arrived while the process was suspended', async () => {
    let finish: (text: string) => void = () => undefined;
    const result = new Promise<string>((resolve) => (finish = resolve));
    const driver = toolDriver([testTool('send', () => result, { timeoutMs: 100, effect: 'network' })]);
    const ran = runCalls(driver, [toolCall('1', 'send')]);
    // After a suspension, timers run before sockets are read.
    vi.setSystemTime(3_600_000);
    await vi.advanceTimersByTimeAsync(100);
    finish('sent');
    await vi.advanceTimersByTimeAsync(0);
    expect(ran.outcome('1')).toMatchObject({ status: 'ok' });
    expect(driver.late.of('alice')).toEqual([]);
  });

  it('is reported as a late result once if it succeeds', async () => {
    const driver = toolDriver([testTool('send', () => after(500), { timeoutMs: 100, effect: 'network' })]);
    runCalls(driver, [toolCall('1', 'send')]);
    await vi.advanceTimersByTimeAsync(499);
    expect(driver.late.of('alice')).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    const late = driver.late.of('alice');
    expect(late).toEqual([
      { id: '1', name: 'send', effect: 'network', turn: 'turn-1', reportedAs: 'timed-out', durationMs: 500 },
    ]);
    expect(driver.late.of('bob')).toEqual([]);
    driver.late.settle('alice', late);
    expect(driver.late.of('alice')).toEqual([]);
  });

  it('is not reported if it fails late, and causes no unhandled rejection', async () => {
    const driver = toolDriver([
      testTool(
        'send',
        async () => {
          await after(500);
          throw new Error('late');
        },
        { timeoutMs: 100 },
      ),
    ]);
    runCalls(driver, [toolCall('1', 'send')]);
    await vi.advanceTimersByTimeAsync(500);
    expect(driver.late.of('alice')).toEqual([]);
  });

  it('does not block the next wave', async () => {
    const driver = toolDriver([
      testTool('hang', never, { effect: 'local-write', timeoutMs: 50 }),
      testTool('look', () => 'x'),
    ]);
    const ran = runCalls(driver, [toolCall('1', 'hang'), toolCall('2', 'look')]);
    await vi.advanceTimersByTimeAsync(50);
    expect(ran.statuses).toEqual({ 1: 'timed-out', 2: 'ok' });
  });

  it("gets the driver's limit if its tool has none; Infinity disables the limit", async () => {
    const limited = runCalls(toolDriver([testTool('hang', never)], { timeoutMs: 30 }), [toolCall('1', 'hang')]);
    const endless = runCalls(toolDriver([testTool('hang', never)], { timeoutMs: Infinity }), [toolCall('1', 'hang')]);
    await vi.advanceTimersByTimeAsync(10_000_000_000);
    expect(limited.statuses).toEqual({ 1: 'timed-out' });
    expect(endless.results).toEqual([]);
    endless.unsubscribe();
  });

  it('gets 120 seconds by default', async () => {
    const ran = runCalls(toolDriver([testTool('hang', never)]), [toolCall('1', 'hang')]);
    await vi.advanceTimersByTimeAsync(119_999);
    expect(ran.results).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ran.statuses).toEqual({ 1: 'timed-out' });
  });
});

describe('the deadline of the turn', () => {
  const hang = testTool('hang', never, { effect: 'local-write' });
  const timeoutOf = (ran: ReturnType<typeof runCalls>, id: string): number | undefined => {
    const outcome = ran.outcome(id);
    return outcome.status === 'timed-out' ? outcome.timeoutMs : undefined;
  };

  it('is shared among the waves, minus a reserve', async () => {
    const driver = toolDriver([hang], { deadlineAt: 1_000_000 + 90_000, reserveMs: 30_000 });
    const ran = runCalls(
      driver,
      ['1', '2', '3'].map((id) => toolCall(id, 'hang')),
    );
    await vi.advanceTimersByTimeAsync(60_000);
    expect(['1', '2', '3'].map((id) => timeoutOf(ran, id))).toEqual([20_000, 20_000, 20_000]);
  });

  it('gives unused time of a call to the later ones', async () => {
    const driver = toolDriver([testTool('quick', () => after(1_000), { effect: 'local-write' }), hang], {
      deadlineAt: 1_000_000 + 60_000,
    });
    const ran = runCalls(driver, [toolCall('1', 'quick'), toolCall('2', 'hang')]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(timeoutOf(ran, '2')).toBe(29_000);
  });

  it('never gives a tool more than its own limit', async () => {
    const driver = toolDriver([testTool('short', never, { timeoutMs: 10 })], { deadlineAt: () => 2_000_000 });
    const ran = runCalls(driver, [toolCall('1', 'short')]);
    await vi.advanceTimersByTimeAsync(10);
    expect(timeoutOf(ran, '1')).toBe(10);
  });

  it('counts a wave with more reads than `concurrency` as several', async () => {
    const driver = toolDriver([testTool('read', never)], { deadlineAt: 1_100_000, reserveMs: 0, concurrency: 2 });
    const ran = runCalls(
      driver,
      ['1', '2', '3', '4'].map((id) => toolCall(id, 'read')),
    );
    await vi.advanceTimersByTimeAsync(100_000);
    expect(['1', '2', '3', '4'].map((id) => timeoutOf(ran, id))).toEqual([50_000, 50_000, 50_000, 50_000]);
  });

  it('skips calls without remaining time', () => {
    const ran = runCalls(toolDriver([hang], { deadlineAt: 1_000_000 + 30_000 }), [toolCall('1', 'hang')]);
    expect(ran.outcome('1').status).toBe('skipped');
    expect(ran.text('1')).toContain('no time is left');
  });

  it.each([
    [600_000, 570_000],
    [120_000, 90_000],
    [119_996, 89_997],
    [40_000, 30_000],
    [4, 3],
  ])('reserves 30 s or a quarter of the %i ms that its operators set, whichever is less', async (leftMs, callMs) => {
    const driver = toolDriver([hang], { timeoutMs: Infinity });
    const ran = runCalls(driver, [toolCall('1', 'hang')], { deadlineAt: 1_000_000 + leftMs });
    await vi.advanceTimersByTimeAsync(leftMs);
    expect(timeoutOf(ran, '1')).toBe(callMs);
  });

  it('reserves the remaining time again at each step, so that a later step still has time', async () => {
    const driver = toolDriver([hang], { timeoutMs: Infinity });
    const deadlineAt = 1_000_000 + 64_000;
    const timeouts: (number | undefined)[] = [];
    for (const [step, leftMs] of [64_000, 16_000, 4_000].entries()) {
      const ran = runCalls(driver, [toolCall('1', 'hang')], { step: step + 1, deadlineAt });
      await vi.advanceTimersByTimeAsync((leftMs * 3) / 4);
      timeouts.push(timeoutOf(ran, '1'));
    }
    expect(timeouts).toEqual([48_000, 12_000, 3_000]);
  });

  it('has a smaller reserve, or none, with `reserveMs`', async () => {
    const ran = runCalls(toolDriver([hang], { reserveMs: 0 }), [toolCall('1', 'hang')], { deadlineAt: 1_060_000 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(timeoutOf(ran, '1')).toBe(60_000);
  });

  it('leaves no time for calls once it has passed', () => {
    const ran = runCalls(toolDriver([hang]), [toolCall('1', 'hang')], { deadlineAt: 999_000 });
    expect(ran.outcome('1').status).toBe('skipped');
  });

  it('is computed for each turn if it is a function', () => {
    const seen: unknown[] = [];
    const deadlineAt = ({ turn, session }: { turn: string; session: string }) => (
      seen.push([turn, session]),
      undefined
    );
    expect(
      runCalls(toolDriver([testTool('look', () => 'x')], { deadlineAt }), [toolCall('1', 'look')]).statuses,
    ).toEqual({ 1: 'ok' });
    expect(seen).toEqual([['turn-1', 'alice']]);
  });
});
