import { harness, reply, type ModelDriver } from '@h/turn';
import { call, response } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { driverOf } from '../test/tool-driver.js';
import { pass, useVirtualTime } from '../test/virtual-time.js';
import { memoryChildStore, type ChildRecord } from './index.js';
import type { SubagentsOptions } from './options.js';
import { recover } from './recover.js';
import { Team } from './team.js';
import { spawnTool, waitTool } from './tools.js';
import { turnChildren } from './turn-children.js';

useVirtualTime();

const model: ModelDriver = (_, { step, session }) => {
  const first = session.startsWith('boss') ? response(call('a', 'spawn', { agent: 'worker', task: 'x' }), call('b', 'spawn', { agent: 'worker', task: 'y' })) : response('Done.');
  return [{ type: 'response', response: step === 1 ? first : step === 2 ? response(call('w', 'wait', {})) : response('Bye.') }];
};

/** A team whose inside can be looked at. */
const open = (options: Partial<SubagentsOptions> = {}) => {
  const team = new Team({ agents: { worker: { description: 'Works.', create: ({ guard }) => harness({ model, tools: driverOf() }).pipe(guard) } }, ...options });
  const agent = harness({ model, tools: driverOf(spawnTool(team), waitTool(team)) }).pipe(turnChildren(team));
  return { team, agent };
};

describe('a team', () => {
  it('keeps nothing of what was delivered, however much that was', async () => {
    const store = memoryChildStore();
    const { team, agent } = open({ store });
    for (let index = 0; index < 200; index += 1) {
      expect(await reply(agent.turn({ session: `boss-${index % 10}`, input: 'Go' }))).toMatchObject({ outcome: 'completed', steps: 3 });
      const spawned = await team.spawn({ parent: `code-${index}`, agent: 'worker', task: 'x' });
      if (spawned.status === 'accepted') await spawned.ended;
    }
    await pass(1);
    expect([team.family.size, team.turns.size, team.pauses.size, team.unread.size, team.records.size, await store.list()]).toEqual([0, 0, 0, 0, 0, []]);
  });

  it('keeps no more than so many results for turns that never come, not even after a restart', async () => {
    const store = memoryChildStore();
    const { team } = open({ store, limits: { unread: 5 } });
    for (let index = 0; index < 50; index += 1) {
      await team.spawn({ parent: `gone-${index}`, agent: 'worker', task: 'x', receiver: 'parent' });
      await pass(1);
    }
    expect([team.family.size, team.unread.size, (await store.list()).length]).toEqual([10, 5, 5]);
    const { team: next } = open({ store, limits: { unread: 2 } });
    expect(await recover(next)).toEqual([]);
    await pass(1);
    expect([next.unread.size, (await store.list()).map(({ parent }: ChildRecord) => parent)]).toEqual([2, ['gone-48', 'gone-49']]);
  });

  it('keeps nothing of what was refused', async () => {
    const { team } = open({ limits: { depth: 0 } });
    for (let index = 0; index < 50; index += 1) await team.spawn({ parent: `boss-${index}`, agent: 'worker', task: 'x' });
    expect(team.family.size).toBe(0);
  });
});
