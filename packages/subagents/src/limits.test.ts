import { harness, intercept } from '@h/turn';
import { response, scriptedTools } from '@h/turn/testing';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { readBy, says, spawn, tree, wait } from '../test/tree.js';
import { pass, useVirtualTime } from '../test/virtual-time.js';
import { subagents, unrestricted, type Spawned, type SubagentsOptions } from './index.js';

useVirtualTime();

/** A team whose sub-agents work until they are cancelled. */
const busy = (limits: SubagentsOptions['limits']) =>
  tree({ parent: [], limits, tasks: { hang: [{ never: ['…'] }] } }).team;

const spawnMany = async (team: ReturnType<typeof busy>, parent: string, count: number) => {
  const answers = await Promise.all(
    Array.from({ length: count }, () => team.spawn({ parent, agent: 'worker', task: 'hang' })),
  );
  return answers.map((answer) => (answer.status === 'refused' ? answer.code : answer.status));
};

describe('limits', () => {
  it('limits an agent to 20 sub-agents at a time, and admits another when one ends', async () => {
    const team = busy({});
    const answers = await spawnMany(team, 'boss', 23);
    expect(answers.filter((answer) => answer === 'accepted')).toHaveLength(20);
    expect(answers.slice(20)).toEqual(['max-children', 'max-children', 'max-children']);
    await team.cancel('boss', { child: 'c1' });
    expect(await spawnMany(team, 'boss', 2)).toEqual(['accepted', 'max-children']);
    await team.close();
  });

  it('limits the sub-agents of a whole tree', async () => {
    const team = busy({ tree: 3 });
    const first = (await team.spawn({ parent: 'boss', agent: 'worker', task: 'hang' })) as Spawned;
    expect(await spawnMany(team, first.session, 2)).toEqual(['accepted', 'accepted']);
    expect(await spawnMany(team, 'boss', 1)).toEqual(['max-tree']);
    expect(await spawnMany(team, 'another', 1)).toEqual(['accepted']);
    await team.close();
  });

  it('lets sub-agents spawn sub-agents, five deep', async () => {
    const team = busy({});
    let parent = 'boss';
    for (let depth = 1; depth <= 5; depth += 1) {
      parent = ((await team.spawn({ parent, agent: 'worker', task: 'hang' })) as Spawned).session;
    }
    expect(await team.spawn({ parent, agent: 'worker', task: 'hang' })).toEqual({
      status: 'refused',
      code: 'max-depth',
      limit: 5,
      reason: 'The maximum depth of sub-agents is 5, and this agent is at it. Do the work yourself.',
    });
    await team.close();
  });

  it('announces the earlier of its time limit and the deadline of its parent to a sub-agent', async () => {
    const announced = async (parentMs: number, changes: Partial<SubagentsOptions>): Promise<readonly number[]> => {
      const left: number[] = [];
      const parentDeadline = intercept('deadline', (operator) => ({
        start: () => operator.setDeadline(operator.now() + parentMs),
      }));
      const probe = intercept('probe', (operator) => ({
        decide: { 'model.request': () => void left.push(operator.timeLeft()) },
      }));
      const { run } = tree({
        parent: [says(spawn('1')), 'Done.'],
        operators: [parentDeadline],
        childOperators: () => [probe],
        ...changes,
      });
      const ended = run();
      await pass(1);
      await ended;
      return left;
    };
    expect(await announced(5_000, { limits: { timeoutMs: 60_000 } })).toEqual([5_000]);
    expect(await announced(90_000, { limits: { timeoutMs: 60_000 } })).toEqual([60_000]);
    expect(await announced(5_000, { limits: { timeoutMs: 60_000 }, parentEnd: 'detach' })).toEqual([60_000]);
  });

  it('announces a time limit to a sub-agent whose scheduler has another clock', async () => {
    const left: number[] = [];
    const probe = intercept('probe', (operator) => ({
      decide: { 'model.request': () => void left.push(operator.timeLeft()) },
    }));
    const team = subagents({
      limits: { timeoutMs: 60_000 },
      agents: {
        worker: {
          description: 'Works in virtual time, which begins at 0.',
          create: ({ guard }) =>
            harness({
              model: (_, { turn }) => [{ type: 'response', response: response(`Done in ${turn}.`) }],
              tools: scriptedTools({}),
              scheduler: new VirtualTimeScheduler(),
            }).pipe(probe, guard),
        },
      },
    });
    const answer = (await team.spawn({ parent: 'boss', agent: 'worker', task: 'a' })) as Spawned;
    expect(await answer.ended).toMatchObject({ status: 'ok' });
    expect(left).toEqual([60_000]);
    await team.close();
  });

  it('frees places after an invalid policy', async () => {
    let isFull = true;
    const store = {
      save: () => {
        if (isFull) throw new Error('The disk is full.');
      },
      delete: () => undefined,
      list: () => [],
    };
    const { team } = tree({ parent: [], limits: { children: 1, tree: 1 }, store });
    expect(await team.spawn({ parent: 'boss', agent: 'worker', task: 'a' })).toMatchObject({
      status: 'refused',
      code: 'not-kept',
    });
    isFull = false;
    expect(await team.spawn({ parent: 'boss', agent: 'worker', task: 'a' })).toMatchObject({ status: 'accepted' });
    await pass(1);
    expect(team.list('boss')).toEqual([]);
  });

  it('releases reservations after a failed record', async () => {
    const { team } = tree({ parent: [], limits: { children: 1 } });
    await expect(
      team.spawn({ parent: 'boss', agent: 'worker', task: 'a', policy: { tool: [] } as never }),
    ).rejects.toThrow(/policy: unknown option "tool"/);
    const answer = await team.spawn({ parent: 'boss', agent: 'worker', task: 'a' });
    expect(answer.status).toBe('accepted');
    expect(await (answer as Spawned).ended).toMatchObject({ status: 'ok', text: 'Done: a' });
  });

  it('ends a sub-agent at its time limit, counted from its start', async () => {
    const { team } = tree({
      parent: [],
      limits: { timeoutMs: 1000, concurrency: 1 },
      tasks: { hang: [{ never: ['Half.'] }] },
    });
    const [one, two] = (await Promise.all(
      ['hang', 'hang'].map((task) => team.spawn({ parent: 'boss', agent: 'worker', task })),
    )) as Spawned[];
    await pass(1000);
    expect(await one?.ended).toMatchObject({
      status: 'timed-out',
      outcome: 'cancelled',
      reason: 'It exceeded its time limit.',
      durationMs: 1000,
    });
    await pass(1000);
    expect(await two?.ended).toMatchObject({ status: 'timed-out', durationMs: 1000 });
  });

  it('applies the time limit of an agent kind', async () => {
    const { team } = tree({
      parent: [],
      agents: { slow: { description: 'Slow.', timeoutMs: 50, create: () => new Promise<never>(() => undefined) } },
      limits: { graceMs: 5 },
    });
    const answer = (await team.spawn({ parent: 'boss', agent: 'slow', task: 'x' })) as Spawned;
    await pass(54);
    expect(team.list('boss')).toMatchObject([{ status: 'under-way' }]);
    await pass(1);
    expect(await answer.ended).toMatchObject({ status: 'timed-out', durationMs: 55 });
  });

  it('applies a time limit that is longer than a timer can wait', async () => {
    const days = 24 * 3_600_000;
    const { team } = tree({
      parent: [],
      agents: {
        slow: { description: 'Slow.', timeoutMs: 40 * days, create: () => new Promise<never>(() => undefined) },
      },
      limits: { graceMs: 5 },
    });
    const answer = (await team.spawn({ parent: 'boss', agent: 'slow', task: 'x' })) as Spawned;
    await pass(39 * days);
    expect(team.list('boss')).toMatchObject([{ status: 'under-way' }]);
    await pass(1 * days + 5);
    expect(await answer.ended).toMatchObject({ status: 'timed-out', durationMs: 40 * days + 5 });
  });

  it('releases all slots of an abandoned sub-agent', async () => {
    const { team } = tree({
      parent: [],
      agents: {
        stuck: { description: 'Stuck.', timeoutMs: 50, create: () => new Promise<never>(() => undefined) },
        worker: { description: 'x', create: () => Promise.reject(new Error('made')) },
      },
      limits: { graceMs: 5, concurrency: 1, children: 2 },
    });
    const spawned = (await Promise.all(
      ['stuck', 'worker'].map((agent) => team.spawn({ parent: 'boss', agent, task: 'x' })),
    )) as Spawned[];
    await pass(55);
    expect(await spawned[1]?.ended).toMatchObject({ status: 'failed', reason: 'made' });
  });

  it('uses the default of a limit that is undefined', async () => {
    const team = busy({ children: undefined, depth: undefined });
    expect((await spawnMany(team, 'boss', 21)).at(-1)).toBe('max-children');
    await team.close();
  });

  it('refuses a spawn by an agent whose turn has ended', async () => {
    const { team, run, parent } = tree({ parent: [says(spawn('a')), says(wait('w')), '!'] });
    await run();
    expect(readBy(parent, 1)).toContain('accepted');
    const context = { call: { id: 'x' }, turn: 'gone', session: 'boss', signal: new AbortController().signal };
    expect(await team.tools[0].run({ agent: 'worker', task: 'x' }, context)).toMatchObject({
      status: 'refused',
      code: 'parent-ended',
    });
  });

  it('refuses to spawn after close()', async () => {
    const { team } = tree({ parent: [] });
    await team.close();
    expect(await spawnMany(team, 'boss', 1)).toEqual(['parent-ended']);
  });
});

describe('the options of subagents', () => {
  const worker = { description: 'Works.', create: () => Promise.reject(new Error('No.')) };
  it.each<[string, object, RegExp]>([
    ['an unknown option', { agents: { worker }, limit: 1 }, /unknown option "limit".*Did you mean "limits"/],
    ['an unknown limit', { agents: { worker }, limits: { deep: 1 } }, /unknown option "limits.deep"/],
    [
      'an invalid limit',
      { agents: { worker }, limits: { depth: -1 } },
      /"limits.depth" must be an integer from 0 or Infinity; received -1/,
    ],
    ['no agents', { agents: {} }, /"agents" must have at least one kind/],
    [
      'an agent without create()',
      { agents: { worker: { description: 'x' } } },
      /"agents.worker.create" is required; it must be a function/,
    ],
    [
      'an unknown member of an agent',
      { agents: { worker: { ...worker, model: 'x' } } },
      /unknown option "agents.worker.model"/,
    ],
    [
      'isolation without a function that copies',
      { agents: { worker: { ...worker, isolate: true } } },
      /"agents.worker.isolate" needs the option "isolate"/,
    ],
    [
      'a misspelled policy',
      { agents: { worker }, policy: { tool: null } },
      /policy: unknown option "tool".* Did you mean "tools"/,
    ],
    [
      'amounts without a budget',
      { agents: { worker: { ...worker, policy: { budget: { maxTokens: 1 } } } } },
      /"agents.worker.policy.budget.maxTokens" needs the option "budget"/,
    ],
    [
      'amounts at the top without a budget',
      { agents: { worker }, policy: { ...unrestricted, budget: { maxCost: 1 } } },
      /"policy.budget.maxCost" needs the option "budget"/,
    ],
    [
      'an invalid limit on unread results',
      { agents: { worker }, limits: { unread: 0.5 } },
      /"limits.unread" must be an integer from 0 or Infinity/,
    ],
    [
      'an invalid time limit of the store',
      { agents: { worker }, limits: { storeMs: 0 } },
      /"limits.storeMs" must be a number from 1 or Infinity/,
    ],
    ['a reachOf that is not a function', { agents: { worker }, reachOf: {} }, /"reachOf" must be a function/],
    ['an invalid parentEnd', { agents: { worker }, parentEnd: 'kill' }, /"wait" or "detach" or "cancel"/],
    ['lanes without methods', { agents: { worker }, lanes: {} }, /run\(\) and yieldWhile\(\)/],
  ])('refuse %s', (_, options, message) => {
    expect(() => subagents(options as never)).toThrow(message);
  });
});
