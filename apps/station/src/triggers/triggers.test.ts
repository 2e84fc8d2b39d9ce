import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { markOf } from '@h/process';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { stringify } from 'yaml';
import { loadText } from '../config/load-config.js';
import type { TriggerConfig } from '../config/schema.js';
import { scheduleOf } from './schedule.js';
import { memoryTicks, type TickStore } from './tick-store.js';
import { startTriggers, type Triggers } from './triggers.js';
import { signatureOf, verifyWebhook } from './webhook.js';

const start = Date.UTC(2026, 0, 1, 8, 0, 0, 500);
const configured = (fields: object): TriggerConfig => {
  const { triggers } = loadText(stringify({ triggers: { t: fields } }), 'config.yaml').config;
  const { t } = triggers;
  if (t === undefined) throw new Error('No trigger.');
  return t;
};

/** Starts one trigger and records its effects. */
const open = async (
  fields: object,
  { store = memoryTicks(), environment = {} }: { store?: TickStore; environment?: Record<string, string> } = {},
): Promise<{ triggers: Triggers; effects: string[] }> => {
  const effects: string[] = [];
  const record = (effect: object): Promise<void> => {
    effects.push(JSON.stringify(effect));
    return Promise.resolve();
  };
  const triggers = await startTriggers({
    triggers: { t: configured(fields) },
    store,
    environment,
    startWorkflow: record,
    sendMessage: record,
  });
  onTestFinished(() => triggers.close());
  return { triggers, effects };
};

const heartbeat = { type: 'heartbeat', every: '10m', agent: 'worker', input: 'Tick {{at}}.' };
const hook = { type: 'webhook', secret_env: 'SECRET', agent: 'worker', input: 'Got {{body.n}}.' };
const environment = { SECRET: 'whsec_c2VjcmV0' };

const signed = (body: string, { id = 'm1', at = Date.now(), secret = environment.SECRET } = {}) => {
  const timestamp = String(Math.floor(at / 1_000));
  return { headers: { id, timestamp, signature: signatureOf(body, { id, timestamp }, secret) }, body };
};

beforeEach(() => {
  vi.useFakeTimers({ now: start });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a timed trigger', () => {
  it.each([
    [heartbeat, 6],
    [{ type: 'cron', schedule: '*/20 * * * *', workflow: 'flow' }, 3],
    [{ type: 'cron', schedule: '30 9 * * *', timezone: 'Europe/Berlin', workflow: 'flow' }, 1],
    [{ type: 'cron', schedule: '30 9 * * *', timezone: 'Asia/Tokyo', workflow: 'flow' }, 0],
  ])('%j has its effects within an hour', async (fields, count) => {
    const { effects } = await open(fields);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(effects).toHaveLength(count);
  });

  it('passes on the time of the tick', async () => {
    const { effects } = await open(heartbeat);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(effects.map((effect) => JSON.parse(effect) as unknown)).toEqual([
      {
        tenant: 'default',
        agent: 'worker',
        title: 't 2026-01-01T08:10:00.000Z',
        session: `trigger:t:${Date.UTC(2026, 0, 1, 8, 10)}`,
        text: 'Tick 2026-01-01T08:10:00.000Z.',
        trigger: 'heartbeat',
        key: `trigger:t:${Date.UTC(2026, 0, 1, 8, 10)}`,
      },
    ]);
  });

  it('has one effect per tick over several processes', async () => {
    const store = memoryTicks();
    const all = await Promise.all([1, 2, 3].map(() => open(heartbeat, { store })));
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(all.flatMap(({ effects }) => effects)).toHaveLength(6);
  });

  it.each([
    ['skip', 0],
    ['run', 1],
  ])('with missed: %s makes up for %i tick after a pause', async (missed, count) => {
    const store = memoryTicks();
    const before = await open({ ...heartbeat, missed }, { store });
    await vi.advanceTimersByTimeAsync(600_000);
    await before.triggers.close();
    vi.setSystemTime(Date.now() + 3_600_000);
    const after = await open({ ...heartbeat, missed }, { store });
    expect(after.effects).toHaveLength(count);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(after.effects).toHaveLength(count + 1);
  });

  it('has its effects when the clock was two hours ahead at the start', async () => {
    const { effects } = await open(heartbeat);
    await vi.advanceTimersByTimeAsync(600_000);
    vi.setSystemTime(Date.now() - 2 * 3_600_000);
    await vi.advanceTimersByTimeAsync(1_800_000);
    expect(effects).toHaveLength(4);
    // The tick of the start and the one that had its effect before the clock was set back have none again.
    await vi.advanceTimersByTimeAsync(2 * 3_600_000);
    expect([effects.length, new Set(effects).size]).toEqual([14, 14]);
  });

  it('completes the effect of a process that was killed', async () => {
    vi.useRealTimers();
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const mark = markOf(child.pid ?? 0);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const store = memoryTicks();
    const tick = { trigger: 't', key: '1', at: Date.now(), isDone: false, payload: '{"body":{"n":7}}' };
    await store.claim({ ...tick, process: mark });
    await store.claim({ ...tick, key: '2', process: markOf(process.ppid) });
    const { effects } = await open(hook, { store, environment });
    expect(effects.map((effect) => JSON.parse(effect) as object)).toEqual([
      expect.objectContaining({ text: 'Got 7.', key: 'trigger:t:1' }),
    ]);
    expect((await open(hook, { store, environment })).effects).toEqual([]);
  });

  it('retries an effect that fails, once it can succeed', async () => {
    const effects: string[] = [];
    const problems: unknown[] = [];
    const triggers = await startTriggers({
      triggers: { t: configured(hook) },
      store: memoryTicks(),
      environment,
      startWorkflow: () => Promise.resolve(),
      sendMessage: ({ text }) =>
        problems.length < 2 ? Promise.reject(new Error('No database.')) : Promise.resolve(effects.push(text)),
      onError: (problem) => problems.push(problem),
    });
    onTestFinished(() => triggers.close());
    expect(await triggers.webhook('t', signed('{"n":7}'))).toEqual({ isNew: true });
    await vi.advanceTimersByTimeAsync(600_000);
    expect([problems.length, effects]).toEqual([2, ['Got 7.']]);
  });

  it('claims a tick later if the store fails at its time', async () => {
    const inner = memoryTicks();
    let failures = 2;
    const claim: TickStore['claim'] = (tick) => {
      if (tick.isDone || (failures -= 1) < 0) return inner.claim(tick);
      return Promise.reject(new Error('The disk is full.'));
    };
    const { effects } = await open(heartbeat, { store: { ...inner, claim } });
    await vi.advanceTimersByTimeAsync(600_000);
    expect(effects).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(effects).toEqual([expect.stringContaining('Tick 2026-01-01T08:10:00.000Z.')]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(effects).toHaveLength(1);
  });

  it('rejects an invalid schedule', async () => {
    const cron = { type: 'cron', schedule: 'often', workflow: 'flow' };
    await expect(open(cron)).rejects.toThrow();
    await expect(open({ ...cron, schedule: '* * * * *', timezone: 'Mars/Base' })).rejects.toThrow();
  });

  it('computes the same ticks forward and backward', () => {
    const schedules = [
      configured({ type: 'cron', schedule: '*/7 3-5 * * 1-5', timezone: 'Europe/Berlin', workflow: 'flow' }),
      configured({ type: 'heartbeat', every: '90s', workflow: 'flow' }),
    ].map((trigger) => scheduleOf(trigger as never));
    fc.assert(
      fc.property(fc.constantFrom(...schedules), fc.integer({ min: 1.6e12, max: 1.9e12 }), (schedule, at) => {
        const next = schedule.next(at) ?? 0;
        expect(next).toBeGreaterThan(at);
        expect(schedule.latest(next)).toBe(next);
        expect(schedule.latest(next - 1)).toBeLessThanOrEqual(at);
      }),
      { numRuns: 50 },
    );
  });
});

describe('a webhook', () => {
  it('has one effect, however often it is delivered', async () => {
    const { triggers, effects } = await open(hook, { environment });
    expect(await triggers.webhook('t', signed('{"n":7}'))).toEqual({ isNew: true });
    expect(await triggers.webhook('t', signed('{"n":7}'))).toEqual({ isNew: false });
    expect(effects).toEqual([expect.stringContaining('Got 7.')]);
  });

  it.each<[string, (request: ReturnType<typeof signed>) => unknown, string]>([
    ['another body', (request) => ({ ...request, body: '{"n":8}' }), 'bad-signature'],
    ['another secret', () => signed('{}', { secret: 'other' }), 'bad-signature'],
    ['an old timestamp', () => signed('{}', { at: start - 301_000 }), 'expired'],
    ['a future timestamp', () => signed('{}', { at: start + 302_000 }), 'expired'],
    ['no signature', ({ headers, body }) => ({ headers: { ...headers, signature: undefined }, body }), 'unsigned'],
    ['a wrong id', ({ headers, body }) => ({ headers: { ...headers, id: 'a b' }, body }), 'unsigned'],
  ])('is refused with %s', async (_, change, code) => {
    const { triggers, effects } = await open(hook, { environment });
    const request = change(signed('{"n":7}')) as ReturnType<typeof signed>;
    await expect(triggers.webhook('t', request)).rejects.toMatchObject({ code });
    expect(effects).toEqual([]);
  });

  it('is unknown without a secret or under another name', async () => {
    const { triggers } = await open(hook);
    await expect(triggers.webhook('t', signed('{}'))).rejects.toMatchObject({ code: 'unknown-trigger' });
    await expect(triggers.webhook('constructor', signed('{}'))).rejects.toMatchObject({ code: 'unknown-trigger' });
  });

  it('accepts what is signed and nothing else', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1 }), fc.string(), (body, secret, other) => {
        const request = signed(body, { secret });
        expect(verifyWebhook(request, secret, 1_000, start)).toBe('m1');
        if (other !== body) {
          expect(() => verifyWebhook({ ...request, body: other }, secret, 1_000, start)).toThrow('No signature');
        }
      }),
    );
  });
});

describe('a message', () => {
  it('starts the triggers whose words it contains, once', async () => {
    const { triggers, effects } = await open({
      type: 'message',
      contains: 'deploy',
      workflow: 'flow',
      input: 'Asked: {{text}}',
    });
    expect(await triggers.message({ tenant: 'default', id: 'm1', text: 'Please DEPLOY it.' })).toEqual(['t']);
    expect(await triggers.message({ tenant: 'default', id: 'm1', text: 'Please DEPLOY it.' })).toEqual([]);
    expect(await triggers.message({ tenant: 'default', id: 'm2', text: 'Hello.' })).toEqual([]);
    expect(await triggers.message({ tenant: 'other', id: 'm3', text: 'Please deploy it.' })).toEqual([]);
    expect(effects).toEqual([expect.stringContaining('"text":"Asked: Please DEPLOY it."')]);
  });
});
