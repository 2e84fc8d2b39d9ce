import type { Agent } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { tree, type TreeOptions } from '../../test/tree.js';
import { pass, useVirtualTime } from '../../test/virtual-time.js';
import { EndedSessions } from './ended-sessions.js';
import type { Spawned, Subagents } from '../index.js';
import type { ChildSessions } from './ended-sessions.js';

useVirtualTime();

/** A store of sessions in the order of their latest use. */
const shelf = (
  left: readonly string[] = [],
  { fails = () => false }: { readonly fails?: (session: string) => boolean } = {},
) => {
  const there = [...left];
  const tried: string[] = [];
  const lists = { count: 0 };
  const store: ChildSessions = {
    list: () => {
      lists.count += 1;
      return there.map((session, updatedAt) => ({ session, updatedAt })).toReversed();
    },
    delete: async (session) => {
      tried.push(session);
      if (fails(session)) throw new Error('A turn runs in it.');
      if (there.includes(session)) there.splice(there.indexOf(session), 1);
    },
  };
  return { store, there, tried, lists };
};

const open = (sessions: ReturnType<typeof shelf>, latest: number, more: Partial<TreeOptions> = {}) =>
  tree({
    parent: [],
    keepSessions: { latest, store: sessions.store },
    onEvent: ({ session }, { type }) => void (type === 'session.loaded' && sessions.there.push(session)),
    ...more,
  });

const runs = async (team: Subagents, count: number): Promise<void> => {
  for (let index = 0; index < count; index += 1) {
    await ((await team.spawn({ parent: 'boss', agent: 'worker', task: 'x' })) as Spawned).ended;
    await pass(1);
  }
};

describe('sessions of sub-agents that have ended', () => {
  it('are limited to the latest; other sessions are untouched', async () => {
    const sessions = shelf(['alice', 'subagent-old', 'bob', 'subagent-new']);
    const { team } = open(sessions, 3);
    await runs(team, 1);
    expect(sessions.there).toEqual(['alice', 'subagent-old', 'bob', 'subagent-new', 'subagent-c1']);
    await runs(team, 1);
    expect(sessions.there).toEqual(['alice', 'bob', 'subagent-new', 'subagent-c1', 'subagent-c2']);
    await runs(team, 50);
    expect(sessions.there).toEqual(['alice', 'bob', 'subagent-c50', 'subagent-c51', 'subagent-c52']);
    expect(sessions.lists.count).toBe(1);
  });

  it('may all be removed, except those in use', async () => {
    const sessions = shelf();
    const { team } = open(sessions, 0, { tasks: { hang: [{ never: [] }] } });
    await team.spawn({ parent: 'boss', agent: 'worker', task: 'hang' });
    await pass(1);
    await runs(team, 3);
    expect(sessions.there).toEqual(['subagent-c1']);
    await team.cancel('boss');
    await pass(1);
    expect(sessions.there).toEqual([]);
  });

  it('are retried a limited number of times while they are in use', async () => {
    const sessions = shelf([], { fails: (session) => session === 'subagent-c1' });
    const { team } = open(sessions, 0);
    await runs(team, 6);
    expect(sessions.tried.filter((session) => session === 'subagent-c1')).toHaveLength(3);
    expect(sessions.there).toEqual(['subagent-c1']);
  });

  it('are not removed for sub-agents that never began', async () => {
    const sessions = shelf();
    const { team } = open(sessions, 0, {
      agents: { worker: { description: 'Broken.', create: () => Promise.reject<Agent>(new Error('No parts.')) } },
    });
    await runs(team, 2);
    expect(sessions.tried).toEqual([]);
  });

  it('do not block when the store hangs or cannot list them', async () => {
    const never = (): Promise<never> => new Promise<never>(() => undefined);
    const tried: string[] = [];
    const hanging: ChildSessions = {
      list: never,
      delete: (session) => (tried.push(session), session === 'subagent-c1' ? never() : undefined),
    };
    const failing: ChildSessions = {
      list: () => {
        throw new Error('No disk.');
      },
      delete: (session) => void tried.push(session),
    };
    for (const store of [hanging, failing]) {
      tried.length = 0;
      const { team } = tree({ parent: [], keepSessions: { latest: 1, store }, limits: { storeMs: 50 } });
      await runs(team, 3);
      await pass(200);
      expect(tried).toEqual(['subagent-c1', 'subagent-c2']);
      const closed = team.close();
      await pass(200);
      await closed;
    }
  });

  it('are remembered up to a limit if the store is slow', async () => {
    const tried: string[] = [];
    const store: ChildSessions = {
      list: () => [],
      delete: (session) => (tried.push(session), new Promise<void>(() => undefined)),
    };
    const ended = new EndedSessions(
      { latest: 1, store },
      {
        storeMs: 1,
        after: (delayMs, callback) => (setTimeout(callback, delayMs), () => undefined),
        isAlive: () => false,
      },
    );
    for (let index = 0; index < 30_000; index += 1) ended.add(`subagent-${index}`);
    await pass(60_000);
    expect([tried[0], tried.length]).toEqual(['subagent-19999', 100]);
    ended.add('subagent-new');
    await pass(60_000);
    expect([tried[100], tried.length]).toEqual(['subagent-20000', 200]);
    await ended.close();
  });

  it('stay in the store once the team is closed', async () => {
    let confirm: () => void = () => undefined;
    const tried: string[] = [];
    const store: ChildSessions = {
      list: () => [],
      delete: (session) => (tried.push(session), new Promise<void>((resolve) => (confirm = resolve))),
    };
    const { team } = tree({ parent: [], keepSessions: { latest: 0, store } });
    await runs(team, 3);
    let isClosed = false;
    const closed = team.close().then(() => (isClosed = true));
    await pass(1);
    expect(isClosed).toBe(false);
    confirm();
    await closed;
    expect(tried).toEqual(['subagent-c1']);
  });

  it.each<[object, RegExp]>([
    [{ latest: 5 }, /"keepSessions.store" is required; it must be an object with list\(\) and delete\(\)/],
    [{ latest: -1, store: shelf().store }, /"keepSessions.latest" must be an integer from 0; received -1/],
    [{ latest: 1, store: shelf().store, newest: 1 }, /unknown option "keepSessions.newest"/],
  ])('reject the invalid option %j', (keepSessions, message) => {
    expect(() => tree({ parent: [], keepSessions: keepSessions as never })).toThrow(message);
  });
});
