import { foldJournal, harness, type JournalRecord, type SessionStore, type TurnEvent } from '@h/turn';
import { decodeRecord, encodeRecord } from '@h/turn/records';
import { call, response, scriptedModel, scriptedTools, type ScriptStep } from '@h/turn/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { askedOf, badRequest, broken, models, notices, poolOf, rateLimited, watch, wrongKey } from '../test/turns.js';
import { failover } from './failover.js';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A session on disk: lines, and nothing else. */
const storeOf = (given: readonly string[]): SessionStore & { readonly lines: string[] } => {
  const lines = [...given];
  const journal = (): JournalRecord[] => lines.map(decodeRecord);
  const snapshot = { messages: [], state: {} };
  return {
    lines,
    open: () => ({
      snapshot,
      journal: journal(),
      append: (record) => void lines.push(encodeRecord(record)),
      close: () => undefined,
    }),
    locate: () => 'alice',
    unfinished: () => [],
  };
};

const limited = { error: rateLimited() };
const script: readonly ScriptStep[] = [
  response(call('w1', 'write')),
  { error: broken },
  limited,
  limited,
  { error: badRequest },
  'Done.',
];
const expected = [
  'alpha/one with a1',
  'alpha/one with a1',
  'alpha/one with a1',
  'alpha/one with a2',
  'beta/two with b1',
  'beta/two with b1',
];

describe('a turn that is resumed', () => {
  it('continues from each record with the same attempts, targets and cooldowns', async () => {
    const whole = storeOf([]);
    const play = (store: SessionStore, steps: readonly ScriptStep[], chain = [...models, 'beta/three']) => {
      const model = scriptedModel(steps);
      const tools = scriptedTools({ write: 'written' }, { write: { idempotent: true } });
      const pool = poolOf();
      return {
        model,
        tools,
        pool,
        agent: harness({ model, tools, sessions: store, defaultModel: 'alpha/one', newId: () => 'turn-1' }).pipe(
          failover({ pool, models: chain, random: () => 0 }),
        ),
      };
    };
    const first = play(whole, [...script.slice(0, 5), 'Done.']);
    const watched = watch(first.agent.turn({ session: 'alice', input: 'Go.' }));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(watched.end?.outcome).toBe('completed');
    const asked = askedOf(first.model);
    expect(asked).toEqual([...expected.slice(0, 5), 'beta/three with b1']);
    const finalText = JSON.stringify(foldJournal({ messages: [], state: {} }, whole.lines.map(decodeRecord)).messages);

    for (let length = 2; length < whole.lines.length; length += 1) {
      vi.setSystemTime(12_000);
      const store = storeOf(whole.lines.slice(0, length));
      const records = store.lines.map(decodeRecord).map(({ event }) => event);
      const answered = records.filter(({ type }) => type === 'model.response' || type === 'model.error').length;
      const again = play(store, [...script.slice(0, 5), 'Done.'].slice(answered));
      const resumed = watch(again.agent.resume('turn-1'));
      await vi.advanceTimersByTimeAsync(10_000);
      const place = `after record ${length}, ${records.at(-1)?.type}`;
      expect(resumed.end?.outcome, place).toBe('completed');
      // Cooldowns from before the crash still apply.
      expect(askedOf(again.model), place).toEqual(asked.slice(answered));
      expect(
        JSON.stringify(foldJournal({ messages: [], state: {} }, store.lines.map(decodeRecord)).messages),
        place,
      ).toBe(finalText);
      const live = resumed.events.filter(({ replayed }) => replayed !== true).map(({ type }) => type);
      if (records.at(-1)?.type === 'model.request') {
        expect(live[0], `${place}: the call that was under way is made again, and nothing is decided again`).toBe(
          'model.request',
        );
      }
      const attempts = resumed
        .all('model.request')
        .filter(({ step }) => step === 2)
        .map(({ attempt }) => attempt);
      expect(attempts, place).toEqual(attempts.toSorted((one, other) => one - other));
      expect(new Set(attempts).size, place).toBe(attempts.length);
    }
  });

  it('waits for the rest of a wait', async () => {
    const store = storeOf([]);
    const model = scriptedModel([{ error: { ...broken, headers: { 'retry-after': '60' }, status: 500 } }]);
    const watched = watch(
      harness({ model, sessions: store, newId: () => 'turn-1' })
        .pipe(failover({ models, random: () => 0 }))
        .turn({ session: 'alice', input: 'Go.' }),
    );
    await vi.advanceTimersByTimeAsync(20_000);
    const crashed = storeOf(store.lines);
    watched.leave();
    const after = scriptedModel(['Hello.']);
    const resumed = watch(
      harness({ model: after, sessions: crashed })
        .pipe(failover({ models, random: () => 0 }))
        .resume('turn-1'),
    );
    await vi.advanceTimersByTimeAsync(39_000);
    expect(after.requests).toHaveLength(0);
    expect(notices(resumed)).toMatchObject([{ type: 'failover.retrying', delayMs: 40_000 }]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(after.requests).toHaveLength(1);
    expect(resumed.end?.outcome).toBe('completed');
  });

  it('does not count the time without a process', async () => {
    const store = storeOf([]);
    const model = scriptedModel([{ error: broken }, { never: [] }]);
    const agent = () => failover({ models, random: () => 0, maxElapsedMs: 5_000 });
    const watched = watch(
      harness({ model, sessions: store, newId: () => 'turn-1' })
        .pipe(agent())
        .turn({ session: 'alice', input: 'Go.' }),
    );
    await vi.advanceTimersByTimeAsync(2_000);
    const crashed = storeOf(store.lines);
    watched.leave();
    vi.setSystemTime(86_400_000);
    const after = scriptedModel([{ error: broken }, 'Hello.']);
    const resumed = watch(harness({ model: after, sessions: crashed }).pipe(agent()).resume('turn-1'));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(resumed.end?.outcome).toBe('completed');
    expect(resumed.all('model.request').map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
  });

  it('restores cooldowns for the time that is left of them', async () => {
    const store = storeOf([]);
    const model = scriptedModel([{ error: wrongKey }, { never: [] }]);
    const watched = watch(
      harness({ model, sessions: store, newId: () => 'turn-1' })
        .pipe(failover({ pool: poolOf(), models }))
        .turn({ session: 'alice', input: 'Go.' }),
    );
    await vi.advanceTimersByTimeAsync(1_000);
    const crashed = storeOf(store.lines);
    watched.leave();
    const pool = poolOf();
    const resumed = watch(
      harness({ model: scriptedModel(['Hello.']), sessions: crashed })
        .pipe(failover({ pool, models }))
        .resume('turn-1'),
    );
    await vi.advanceTimersByTimeAsync(0);
    expect(pool.status()[0]?.cooldowns).toMatchObject([{ reason: 'auth', since: 0, until: 300_000 }]);
    expect(
      resumed.events.filter(
        (event): event is TurnEvent => event.replayed === undefined && event.type === 'model.request',
      ),
    ).toMatchObject([{ credential: 'a2', attempt: 3 }]);
  });

  it('starts no cooldown for a call that the stop of the turn cancelled', async () => {
    const store = storeOf([]);
    const controller = new AbortController();
    const run = (sessions: SessionStore, pool: ReturnType<typeof poolOf>) =>
      harness({ model: scriptedModel([{ never: [] }]), sessions, newId: () => 'turn-1' }).pipe(
        failover({ pool, models, maxRetries: 0 }),
      );
    watch(run(store, poolOf()).turn({ session: 'alice', input: 'Go.', signal: controller.signal }));
    await vi.advanceTimersByTimeAsync(1_000);
    controller.abort();
    await vi.advanceTimersByTimeAsync(0);
    const types = store.lines.map(decodeRecord).map(({ event }) => event.type);
    expect(types.slice(-3)).toEqual(['turn.stop', 'model.error', 'turn.end']);
    const pool = poolOf();
    const resumed = watch(run(storeOf(store.lines.slice(0, -1)), pool).resume('turn-1'));
    await vi.advanceTimersByTimeAsync(0);
    expect(resumed.end?.outcome).toBe('cancelled');
    expect(pool.acquire({ provider: 'alpha', model: 'alpha/one', session: 'bob' })).toMatchObject({
      profile: 'a1',
      isProbe: false,
    });
  });
});
