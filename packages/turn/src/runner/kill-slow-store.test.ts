import { map, timer } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watch } from '../../test/turns.js';
import type { TurnEvent } from '../contract/events.js';
import { harness, type Agent } from '../harness.js';
import { memorySessions } from '../journal/memory-sessions.js';
import type { ModelDriver } from '../contract/model.js';
import { repairHistory } from '../transcript/repair.js';
import type { JournalRecord, OpenSession, SessionStore } from '../contract/session-store.js';
import { call, response, scriptedTools } from '../testing/index.js';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

const session = 'alice';
const turn = 'turn-1';

/** A store that takes 0 to 20 ms for each write and can be killed: what was not durable by then is lost. */
const slowStore = (seed: number, durable: JournalRecord[]) => {
  let random = seed;
  let isKilled = false;
  const inner = memorySessions();
  const delay = (): number => {
    random = (Math.imul(random, 1_103_515_245) + 12_345) & 0x7fffffff;
    return random % 21;
  };
  const refill = inner.open(session) as OpenSession;
  for (const record of durable) void refill.append(record);
  void refill.close();
  let last: Promise<void> = Promise.resolve();
  const sessions: SessionStore = {
    ...inner,
    open: async (name) => {
      const open = await inner.open(name);
      return {
        snapshot: open.snapshot,
        journal: open.journal,
        close: () => open.close(),
        append: (record) => {
          const before = last;
          const own = new Promise<void>((resolve) => setTimeout(resolve, delay()));
          last = Promise.all([before, own]).then(() => {
            if (isKilled) return new Promise<void>(() => undefined);
            durable.push(record);
            return open.append(record);
          });
          return last;
        },
      };
    },
  };
  return { sessions, kill: () => (isKilled = true) };
};

/** A turn with read and write tools, alone and side by side. */
const agentOn = (sessions: SessionStore, effects: string[]): Agent => {
  const answers = [
    response('Reading.', call('r1', 'read'), call('r2', 'read')),
    response('Writing.', call('w1', 'write'), call('r3', 'read'), call('w2', 'write')),
    response('And again.', call('w3', 'write')),
    response('Done.'),
  ];
  const model: ModelDriver = (_, { step }) =>
    timer(4).pipe(map(() => ({ type: 'response', response: answers[step - 1] ?? response('Done.') }) as const));
  const act = (_: unknown, { call: { id } }: { readonly call: { readonly id: string } }) => {
    effects.push(id);
    return new Promise<string>((resolve) => setTimeout(() => resolve(`done ${id}`), 3));
  };
  const tools = scriptedTools({ read: act, write: act }, { read: { effect: 'read-only' }, write: {} });
  return harness({ model, tools, sessions }).pipe();
};

const identity = (event: TurnEvent): string => {
  const { replayed: _replayed, ...rest } = event;
  return JSON.stringify(rest);
};

describe('a process that is killed while its store lags', () => {
  it.each([1, 2, 3])(
    'loses nothing that was seen and writes nothing twice, killed at every moment (delays %i)',
    async (seed) => {
      const whole: JournalRecord[] = [];
      const uncut = watch(agentOn(slowStore(seed, whole).sessions, []).turn({ session, input: 'Go.', id: turn }));
      let length = 0;
      for (; !uncut.isComplete; length += 1) await vi.advanceTimersByTimeAsync(1);
      expect(length).toBeGreaterThan(30);
      for (let moment = 0; moment <= length; moment += 1) {
        const durable: JournalRecord[] = [];
        const effects: string[] = [];
        const first = slowStore(seed, durable);
        const cut = watch(agentOn(first.sessions, effects).turn({ session, input: 'Go.', id: turn }));
        await vi.advanceTimersByTimeAsync(moment);
        first.kill();
        const seen = cut.events.filter(({ type }) => !['model.delta', 'turn.end'].includes(type)).map(identity);
        vi.clearAllTimers();
        if (durable.length === 0) {
          expect(seen, `${moment} ms: nothing is shown before it is stored`).toEqual([]);
          continue;
        }
        const resumed = watch(agentOn(slowStore(seed + 7, durable).sessions, effects).resume(turn));
        await vi.advanceTimersByTimeAsync(5_000);
        expect(resumed.isComplete, `${moment} ms`).toBe(true);
        const known = new Set(resumed.events.map(identity));
        expect(
          seen.filter((event) => !known.has(event)),
          `${moment} ms: what was seen is there`,
        ).toEqual([]);
        for (const id of ['w1', 'w2', 'w3']) {
          expect(effects.filter((effect) => effect === id).length, `${moment} ms: ${id} ran once`).toBeLessThanOrEqual(
            1,
          );
        }
        const messages = resumed.events.flatMap((event) => (event.type === 'history.append' ? event.messages : []));
        expect(repairHistory(messages).repairs, `${moment} ms`).toEqual([]);
      }
    },
  );
});
