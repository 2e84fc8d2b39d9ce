import { harness, reply, type ModelDriver, type ModelDriverOutput } from '@h/turn';
import { failure, request, response, scriptedModel } from '@h/turn/testing';
import { Observable, Subject, concat, from, lastValueFrom, throwError, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { poolOf, watch, agentWith } from '../../test/turns.js';
import { redactKeys } from './redact-keys.js';
import { streamTimeouts } from './stream-timeouts.js';

const context = { turn: 't', session: 's', step: 1, attempt: 1, signal: new AbortController().signal };
const delta = (text: string): ModelDriverOutput => ({ type: 'delta', delta: { type: 'text', text } });
const answer: ModelDriverOutput = { type: 'response', response: response('Hello.') };

const call = (options: Parameters<typeof streamTimeouts>[1]) => {
  const source = new Subject<ModelDriverOutput>();
  const left = vi.fn();
  const driver: ModelDriver = () =>
    new Observable((subscriber) => (subscriber.add(source.subscribe(subscriber)), left));
  const outputs: ModelDriverOutput[] = [];
  let isComplete = false;
  const subscription = from(streamTimeouts(driver, options)(request(), context)).subscribe({
    next: (output) => outputs.push(output),
    complete: () => (isComplete = true),
  });
  return { source, left, outputs, subscription, isComplete: () => isComplete };
};

describe('streamTimeouts', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 0 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('ends a call without output and closes the connection', () => {
    const { outputs, left, isComplete } = call({ firstByteMs: 1_000, idleMs: 300 });
    vi.advanceTimersByTime(999);
    expect(outputs).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(outputs).toMatchObject([
      { type: 'error', error: { code: 'first-byte-timeout', message: 'The model produced no output within 1000 ms.' } },
    ]);
    expect(isComplete()).toBe(true);
    expect(left).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([50, 299, 700, 950])('ends a call that stalls after a first output at %i ms', (firstMs) => {
    const { source, outputs } = call({ firstByteMs: 1_000, idleMs: 300 });
    vi.advanceTimersByTime(firstMs);
    source.next(delta('a'));
    vi.advanceTimersByTime(250);
    source.next(delta('b'));
    vi.advanceTimersByTime(299);
    expect(outputs).toHaveLength(2);
    vi.advanceTimersByTime(300);
    expect(outputs.at(-1)).toMatchObject({ type: 'error', error: { code: 'idle-timeout' } });
    expect(outputs).toHaveLength(3);
    source.next(delta('too late'));
    expect(outputs).toHaveLength(3);
  });

  it('detects a stall after a late first output at once', () => {
    const { source, outputs } = call({ firstByteMs: 1_000, idleMs: 300 });
    vi.advanceTimersByTime(350);
    source.next(delta('a'));
    vi.advanceTimersByTime(299);
    expect(outputs).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(outputs.at(-1)).toMatchObject({ error: { code: 'idle-timeout' } });
  });

  it('ends a call that stalls while the clock is set back by an hour', () => {
    const { outputs } = call({ firstByteMs: 1_000, idleMs: 300 });
    vi.advanceTimersByTime(100);
    vi.setSystemTime(-3_600_000);
    vi.advanceTimersByTime(1_500);
    expect(outputs).toMatchObject([{ error: { code: 'first-byte-timeout' } }]);
  });

  it('does not end a call whose output arrived while the process was suspended', () => {
    const { source, outputs, subscription } = call({ firstByteMs: 1_000, idleMs: 300 });
    source.next(delta('a'));
    // After a suspension, timers run before sockets are read.
    vi.setSystemTime(3_600_000);
    vi.advanceTimersByTime(300);
    source.next(delta('b'));
    vi.advanceTimersByTime(299);
    expect(outputs).toEqual([delta('a'), delta('b')]);
    subscription.unsubscribe();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not interrupt a call that produces output', () => {
    const { source, outputs, subscription } = call({ firstByteMs: 100, idleMs: 100 });
    for (let ms = 0; ms < 10_000; ms += 90) {
      vi.advanceTimersByTime(90);
      source.next(delta('a'));
    }
    expect(outputs.every(({ type }) => type === 'delta')).toBe(true);
    expect(vi.getTimerCount()).toBe(1);
    subscription.unsubscribe();
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each<[string, (source: Subject<ModelDriverOutput>) => void, object | null]>([
    ['an answer', (source) => source.next(answer), { type: 'response' }],
    [
      'an error',
      (source) => source.next({ type: 'error', error: failure('No.') }),
      { type: 'error', error: { message: 'No.' } },
    ],
    ['an output that is not an object', (source) => source.next(null as never), null],
    ['nothing', (source) => source.complete(), { type: 'error', error: { code: 'incomplete-stream' } }],
  ])('ends once with %s', (_, end, output) => {
    const { source, outputs, isComplete, left } = call({});
    source.next(delta('a'));
    end(source);
    source.next(answer);
    source.complete();
    vi.advanceTimersByTime(1_000_000);
    expect(outputs).toMatchObject([{ type: 'delta' }, output]);
    expect([isComplete(), left.mock.calls.length, vi.getTimerCount()]).toEqual([true, 1, 0]);
  });

  it('sets no limit for Infinity', () => {
    const { outputs, subscription } = call({ firstByteMs: Infinity, idleMs: Infinity });
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(1e9);
    expect(outputs).toEqual([]);
    subscription.unsubscribe();
  });

  it('passes errors and synchronous answers', async () => {
    const broken = streamTimeouts(() => new Observable((subscriber) => subscriber.error(new Error('reset'))));
    await expect(lastValueFrom(from(broken(request(), context)))).rejects.toThrow('reset');
    expect(
      await lastValueFrom(from(streamTimeouts(() => [delta('a'), answer])(request(), context)).pipe(toArray())),
    ).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leads to a retry that withdraws the output of the stalled attempt', async () => {
    const model = scriptedModel([{ never: ['Hel'] }, 'Hello.']);
    const watched = watch(
      agentWith(streamTimeouts(model, { idleMs: 1_000 }), { models: ['alpha/one'] }).turn({
        session: 'alice',
        input: 'Go.',
      }),
    );
    await vi.advanceTimersByTimeAsync(5_000);
    expect(watched.all('failover.retrying')).toMatchObject([{ reason: 'timeout', attempt: 1 }]);
    expect(watched.end?.outcome).toBe('completed');
    expect([model.active, model.abandoned]).toEqual([0, 1]);
  });
});

describe('redactKeys', () => {
  it('redacts keys in every part of an error and changes nothing else', async () => {
    const pool = poolOf();
    await pool.key('a1');
    const error = {
      ...failure('Incorrect API key provided: key-of-a1.', {
        status: 401,
        headers: { 'x-echo': 'key-of-a1' },
        body: { error: ['key-of-a1', 7, null] },
      }),
      cause: failure('key-of-a2 too'),
    };
    const model: ModelDriver = () => [delta('a'), { type: 'error', error }];
    const { error: shown } = await reply(
      harness({ model: redactKeys(model, pool) })
        .pipe()
        .turn({ session: 'alice', input: 'Go.' }),
    );
    expect(JSON.stringify(shown)).not.toContain('key-of-a');
    expect(shown).toMatchObject({
      message: 'Incorrect API key provided: [redacted].',
      status: 401,
      body: { error: ['[redacted]', 7, null] },
    });
    const fine = await lastValueFrom(from(redactKeys(() => [answer], pool)(request(), context)).pipe(toArray()));
    expect(fine[0]).toBe(answer);
  });

  it.each<[string, ModelDriver]>([
    [
      'throws',
      () => {
        throw new Error('Invalid header value: Bearer key-of-a1');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('Bearer key-of-a1', { cause: new Error('key-of-a1') }))],
    [
      'errors after a delta',
      () =>
        concat(
          [delta('a')],
          throwError(() => 'key-of-a1'),
        ),
    ],
  ])('redacts keys in the error of a driver that %s', async (_, model) => {
    const outputs = await lastValueFrom(from(redactKeys(model, poolOf())(request(), context)).pipe(toArray()));
    expect(outputs.at(-1)).toHaveProperty('error.message', expect.stringContaining('[redacted]'));
    expect(JSON.stringify(outputs)).not.toContain('key-of-a1');
  });
});
