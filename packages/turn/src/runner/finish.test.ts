import { describe, expect, it } from 'vitest';
import { richTurn } from '../../test/rich-turn.js';
import { slowSessions } from '../../test/slow-sessions.js';
import { expectEnded, expectSound, watch, type Watched } from '../../test/turns.js';
import { harness } from '../harness.js';
import { intercept } from '../operators/intercept.js';
import { memorySessions } from '../journal/memory-sessions.js';
import { reply } from '../reply.js';
import type { JournalRecord } from '../contract/session-store.js';
import { scriptedModel, scriptedTools } from '../testing/index.js';

/** All records of a turn in which everything happens. */
const recordsOf = async (): Promise<readonly JournalRecord[]> => {
  const sessions = slowSessions();
  const rich = richTurn({ sessions, delayMs: 1 });
  await watch(rich.turn(), rich.react).done;
  return sessions.journal('alice');
};

/** The store of a process that died after N records. */
const leftBehind = async (records: readonly JournalRecord[]) => {
  const sessions = slowSessions();
  const open = await sessions.open('alice');
  for (const record of records) await open.append(record);
  await open.close();
  return sessions;
};

const silent = () => {
  const [model, tools] = [scriptedModel([]), scriptedTools({})];
  const seen: string[] = [];
  const watcher = intercept('watcher', () => ({ observe: { '*': ({ type }) => void seen.push(type) } }));
  return {
    model,
    tools,
    seen,
    pipe: (sessions: ReturnType<typeof slowSessions>) => harness({ model, tools, sessions }).pipe(watcher),
  };
};

const finished = async (records: readonly JournalRecord[]) => {
  const sessions = await leftBehind(records);
  const drivers = silent();
  const agent = drivers.pipe(sessions);
  const turn = records[0]?.event.turn ?? '';
  const watched = watch(agent.finish(turn));
  await watched.done;
  return { sessions, watched, agent, turn, ...drivers };
};

describe('finish', () => {
  it('ends a turn at any record, without running anything', async () => {
    const records = await recordsOf();
    expect(records.length).toBeGreaterThan(30);
    for (let count = 1; count < records.length; count += 1) {
      const { sessions, watched, model, tools, seen, agent } = await finished(records.slice(0, count));
      const label = `after ${count} records`;
      expectEnded(label, watched);
      expectSound(label, sessions.journal('alice'), sessions.messages('alice'));
      expect(watched.end.outcome, label).toBe(
        records.slice(0, count).some(({ event }) => event.type === 'turn.stop') ? 'completed' : 'error',
      );
      expect([model.requests.length, tools.ran.length, seen.length], label).toEqual([0, 0, 0]);
      expect(await agent.unfinished(), label).toEqual([]);
    }
  });

  it('emits the recorded events marked as replayed, then those that close the turn', async () => {
    const records = await recordsOf();
    const place = records.findIndex(({ event }) => event.type === 'tool.call' && event.call.name === 'write');
    const { watched } = await finished(records.slice(0, place + 2));
    const live = watched.events.slice(place + 2);
    expect(watched.events.slice(0, place + 2).every(({ replayed }) => replayed === true)).toBe(true);
    expect(live.map(({ type }) => type)).toEqual([
      'turn.stop',
      'tool.result',
      'tool.result',
      'tool.result',
      'history.append',
      'turn.end',
    ]);
    expect(watched.all('tool.result').map(({ status }) => status)).toContain('interrupted');
    expect(watched.end).toMatchObject({ outcome: 'error', reason: 'The process ended before the turn did.' });
  });

  it('accepts a reason, and does not change a turn that has ended', async () => {
    const records = await recordsOf();
    const { agent, turn, sessions } = await finished(records);
    expect((await reply(agent.finish(turn, 'Given up.'))).outcome).toBe('completed');
    expect(sessions.journal('alice')).toHaveLength(records.length);
    const open = await leftBehind(records.slice(0, 5));
    expect(await reply(silent().pipe(open).finish(turn, 'Given up.'))).toMatchObject({
      outcome: 'error',
      reason: 'Given up.',
    });
  });

  it('rejects an unknown turn and a running one', async () => {
    const sessions = memorySessions();
    const agent = harness({ model: scriptedModel([{ never: [] }]), sessions }).pipe();
    expect(await reply(agent.finish('turn-7'))).toMatchObject({ outcome: 'error', error: { code: 'unknown-turn' } });
    const running: Watched = watch(agent.turn({ session: 'alice', input: 'Go.', id: 'turn-1' }));
    expect(await reply(agent.finish('turn-1'))).toMatchObject({ outcome: 'error', error: { code: 'session-busy' } });
    expect(running.isComplete).toBe(false);
    expect(() => agent.finish('')).toThrow('finish(): "turn" must be');
    running.subscription.unsubscribe();
  });
});
