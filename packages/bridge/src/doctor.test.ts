import { InvalidOptionError } from '@h/options';
import { call, response } from '@h/turn/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { toyFormat, toyLoop, type ToyMessage } from '../test/toy-host.js';
import { doctor, DoctorError, examineAgents, type Canary, type DoctorPath } from './doctor.js';
import { bridge } from './index.js';

/** Runs the toy loop, with the canary as its tool. */
const loop: DoctorPath = async ({ name, input, session, signal, run }) => {
  const history: ToyMessage[] = [{ from: 'person', text: 'Check.' }];
  const host = bridge([], { host: 'Toy', format: toyFormat }).session(session);
  const answers = [response(call('1', name, input)), response('Done.')];
  await toyLoop({
    session: host,
    history,
    signal,
    tools: { [name]: run },
    model: () => answers.shift() ?? response(''),
  });
  return JSON.stringify(history);
};
const check = (paths: Readonly<Record<string, DoctorPath>>, timeoutMs?: number): Promise<unknown> =>
  doctor({ host: 'Toy', paths, advice: 'Wrap it.', timeoutMs }).catch((error: unknown) => error);
const seenBy = (error: unknown): unknown =>
  error instanceof DoctorError ? error.findings.map(({ path, seen }) => [path, seen]) : error;

describe('doctor', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('passes a loop whose calls pass the bridge', async () => {
    expect(await check({ loop, 'sub-agent': loop })).toBeUndefined();
  });

  it('fails for each path that is not proved, and says what was seen', async () => {
    const error = await check({
      loop,
      skipped: async ({ run }) => run(),
      late: async (canary) => `${await loop(canary)} ${canary.run()}`,
      silent: async () => '',
      refused: async () => 'Unknown tool h_canary.',
      broken: async () => Promise.reject(new RangeError('no key')),
      sync: () => {
        throw new RangeError('no model');
      },
    });
    expect(seenBy(error)).toEqual([
      ['skipped', 'ran'],
      ['late', 'ran'],
      ['silent', 'not-denied'],
      ['refused', 'not-denied'],
      ['broken', 'failed'],
      ['sync', 'failed'],
    ]);
    expect(error).toMatchObject({ code: 'denial-not-enforced', host: 'Toy' });
    expect(String(error)).toContain('"broken": The host failed: RangeError: no key');
    expect(String(error)).toMatch(/Wrap it\.$/);
  });

  it('fails for a path that hangs, aborts it and clears its timer', async () => {
    vi.useFakeTimers();
    let canary: Canary | undefined;
    const checked = check({ hung: (given) => ((canary = given), new Promise(() => undefined)) }, 1000);
    await vi.advanceTimersByTimeAsync(1000);
    expect(seenBy(await checked)).toEqual([['hung', 'timed-out']]);
    expect(canary?.signal.aborted).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects an empty list of paths, which would prove nothing', async () => {
    expect(await check({})).toBeInstanceOf(InvalidOptionError);
    expect(await check({ loop }, 0)).toBeInstanceOf(InvalidOptionError);
  });

  it('rejects agents that are no functions by name', async () => {
    for (const agents of [undefined, { coder: {} }, {}]) {
      const options = { host: 'Toy', advice: 'Wrap it.', agents: agents as never, probeOf: () => ({}) };
      await expect(examineAgents(options)).rejects.toThrow(InvalidOptionError);
    }
  });
});
