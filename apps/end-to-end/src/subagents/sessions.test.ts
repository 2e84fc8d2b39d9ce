import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileSessions, recoverTurns } from '@h/session';
import { isChildSession, type Spawned } from '@h/subagents';
import { reply } from '@h/turn';
import { expect, it, onTestFinished } from 'vitest';
import { family, says, spawn, wait } from './family.js';

/** Allows for a busy machine. */
const patience = { timeout: 20_000 };

it('keeps the latest sub-agent sessions across processes, and never deletes one in use', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'h-sessions-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const sessions = fileSessions({ directory, fsync: 'never' });
  const kept = async (): Promise<readonly string[]> =>
    (await sessions.list()).map(({ session }) => session).filter(isChildSession);
  const open = (latest: number) =>
    family({
      parent: [says(spawn('a', 'x'), spawn('b', 'y')), says(wait('w')), 'Done.'],
      tasks: { hang: [{ never: ['…'] }] },
      sessions,
      keepSessions: { latest, store: sessions },
    });
  const childrenOf = async ({ agent, team }: ReturnType<typeof open>): Promise<readonly string[]> => {
    const known = new Set(await kept());
    expect(await reply(agent.turn({ session: 'boss', input: 'Go' }))).toMatchObject({ outcome: 'completed' });
    await expect.poll(() => team.list('boss'), patience).toEqual([]);
    return (await kept()).filter((session) => !known.has(session));
  };

  /** Runs a sub-agent to its end, at a later time than the previous ones. @returns its session */
  const ended = async ({ team }: ReturnType<typeof open>): Promise<string> => {
    const spawned = (await team.spawn({ parent: 'code', agent: 'worker', task: 'x' })) as Spawned;
    await spawned.ended;
    const then = Date.now();
    await expect.poll(Date.now, { interval: 1 }).toBeGreaterThan(then);
    return spawned.session;
  };

  const first = open(100);
  const [older, newer] = [await ended(first), await ended(first)];
  const inUse = await sessions.open(older);

  const world = open(3);
  const hanging = (await world.team.spawn({ parent: 'code', agent: 'worker', task: 'hang' })) as Spawned;
  await expect.poll(kept, patience).toContain(hanging.session);
  const now = await childrenOf(world);
  await inUse.close();
  expect((await kept()).toSorted()).toEqual([older, newer, ...now, hanging.session].toSorted());
  await world.team.cancel('code');
  await expect.poll(async () => (await kept()).toSorted(), patience).toEqual([...now, hanging.session].toSorted());
  await world.team.close();
  expect((await sessions.list()).map(({ session }) => session)).toContain('boss');
  expect(await recoverTurns(world.agent, { policy: 'finish' })).toEqual([]);
}, 60_000);
