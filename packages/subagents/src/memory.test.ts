import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { harness, reply, type ModelDriver } from '@h/turn';
import { call, response } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { driverOf } from '../test/tool-driver.js';
import { pass, useVirtualTime } from '../test/virtual-time.js';
import { type ChildRecord } from './index.js';
import { memoryChildStore } from '../test/memory-child-store.js';
import type { SubagentsOptions } from './options.js';
import { recover } from './child/recover.js';
import { Team } from './team/team.js';
import { spawnTool, waitTool } from './tools.js';
import { turnChildren } from './team/turn-children.js';

useVirtualTime();

const model: ModelDriver = (_, { step, session }) => {
  const first = session.startsWith('boss')
    ? response(call('a', 'spawn', { agent: 'worker', task: 'x' }), call('b', 'spawn', { agent: 'worker', task: 'y' }))
    : response('Done.');
  return [
    {
      type: 'response',
      response: step === 1 ? first : step === 2 ? response(call('w', 'wait', {})) : response('Bye.'),
    },
  ];
};

const heapUsed = (): number => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
};

/** A team whose inside can be looked at. */
const open = (options: Partial<SubagentsOptions> = {}) => {
  const team = new Team({
    agents: {
      worker: { description: 'Works.', create: ({ guard }) => harness({ model, tools: driverOf() }).pipe(guard) },
    },
    ...options,
  });
  const agent = harness({ model, tools: driverOf(spawnTool(team), waitTool(team)) }).pipe(turnChildren(team));
  return { team, agent };
};

describe('a team', () => {
  it('retains nothing of delivered results', async () => {
    const store = memoryChildStore();
    const { team, agent } = open({ store });
    for (let index = 0; index < 200; index += 1) {
      expect(await reply(agent.turn({ session: `boss-${index % 10}`, input: 'Go' }))).toMatchObject({
        outcome: 'completed',
        steps: 3,
      });
      const spawned = await team.spawn({ parent: `code-${index}`, agent: 'worker', task: 'x' });
      if (spawned.status === 'accepted') await spawned.ended;
    }
    await pass(1);
    expect([
      team.family.size,
      team.turns.size,
      team.pauses.size,
      team.unread.size,
      team.records.size,
      await store.list(),
    ]).toEqual([0, 0, 0, 0, 0, []]);
  });

  it('limits unread results, also after a restart', async () => {
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
    expect([next.unread.size, (await store.list()).map(({ parent }: ChildRecord) => parent)]).toEqual([
      2,
      ['gone-48', 'gone-49'],
    ]);
  });

  it('retains only the delivered part of long results', async () => {
    let count = 0;
    const long: ModelDriver = () => [
      { type: 'response', response: response(`${(count += 1)}${'x'.repeat(999)}`.repeat(5000)) },
    ];
    const { team } = open({
      agents: { worker: { description: 'Talks.', create: ({ guard }) => harness({ model: long }).pipe(guard) } },
    });
    const before = heapUsed();
    for (let index = 0; index < 20; index += 1) {
      await team.spawn({ parent: `boss-${index}`, agent: 'worker', task: 'x', receiver: 'parent' });
      await pass(1);
    }
    expect([team.unread.size, count]).toEqual([20, 20]);
    expect(heapUsed() - before).toBeLessThan(40_000_000);
  });

  it('retains a bounded part of errors', async () => {
    const cause = { name: 'Error', message: 'y'.repeat(50_000), code: 'E_CAUSE' };
    const broken: ModelDriver = () => [
      {
        type: 'error',
        error: {
          name: 'Error',
          message: 'x'.repeat(50_000),
          code: 'E_MODEL',
          status: 500,
          body: 'z'.repeat(50_000),
          headers: { a: 'z'.repeat(50_000) },
          cause,
        },
      },
    ];
    const store = memoryChildStore();
    const { team } = open({
      store,
      agents: { worker: { description: 'Fails.', create: ({ guard }) => harness({ model: broken }).pipe(guard) } },
    });
    await team.spawn({ parent: 'boss', agent: 'worker', task: 'x', receiver: 'parent' });
    await pass(1);
    const [record] = await store.list();
    expect(record?.end?.error).toMatchObject({ code: 'E_MODEL', status: 500, cause: { code: 'E_CAUSE' } });
    expect(JSON.stringify(record).length).toBeLessThan(10_000);
  });

  it('retains nothing of refused requests', async () => {
    const { team } = open({ limits: { depth: 0 } });
    for (let index = 0; index < 50; index += 1) {
      await team.spawn({ parent: `boss-${index}`, agent: 'worker', task: 'x' });
    }
    expect(team.family.size).toBe(0);
  });
});
