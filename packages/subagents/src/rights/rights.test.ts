import { harness } from '@h/turn';
import { tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { readBy, says, spawn, tree, wait } from '../../test/tree.js';
import { pass, useVirtualTime } from '../../test/virtual-time.js';
import { unrestricted, type SharedBudget, type Spawned } from '../index.js';
import { call } from '@h/turn/testing';

useVirtualTime();

const tool = (name: string) => ({ name, run: () => `${name} ran` });

describe('a sub-agent', () => {
  it('may call only tools that its parent, its kind and its spawn allow', async () => {
    const { run, children, contexts } = tree({
      parent: [says(spawn('a', 'x', { tools: ['read', 'write', 'bash'] })), says(wait('w')), 'Done.'],
      tasks: { x: [says(call('1', 'read'), call('2', 'write'), call('3', 'bash'), call('4', 'grep')), 'Ok.'] },
      tools: ['read', 'write', 'bash', 'grep'].map(tool),
      policy: { ...unrestricted, deniedTools: ['shell'], tools: ['read', 'bash', 'grep', 'spawn'] },
      aliases: { shell: 'bash' },
    });
    await run();
    const read = readBy(children[0] as never, 1);
    expect(['read', 'write', 'bash', 'grep'].filter((name) => read.includes(`${name} ran`))).toEqual(['read']);
    expect(read).toContain('This agent may not use grep.');
    expect(children[0]?.requests[0]?.tools.map(({ name }) => name)).toEqual(['read']);
    expect(children[0]?.requests[1]?.tools).toBe(children[0]?.requests[0]?.tools);
    expect(contexts[0]?.allows('bash')).toBe(false);
  });

  it('may not spawn without the tool, even if its parent may', async () => {
    const refusals: Promise<unknown>[] = [];
    const { run, children, team } = tree({
      parent: [says(spawn('a', 'x', { tools: ['read'] })), says(wait('w')), 'Done.'],
      tasks: { x: [says(spawn('b')), 'Ok.'] },
      onEvent: ({ session }, { type }) =>
        void (type === 'turn.start' && refusals.push(team.spawn({ parent: session, agent: 'worker', task: 'x' }))),
    });
    await run();
    expect(readBy(children[0] as never, 1)).toContain('This agent may not use spawn.');
    expect(await refusals[0]).toMatchObject({ status: 'refused', code: 'not-allowed' });
    await pass(1);
  });

  it('has the policy that the root session had when it was spawned', async () => {
    let tools: readonly string[] | null = ['spawn', 'read'];
    const { team, contexts } = tree({
      parent: [],
      policy: () => ({ ...unrestricted, tools }),
      tasks: { hang: [{ never: [] }] },
    });
    const one = (await team.spawn({ parent: 'boss', agent: 'worker', task: 'hang' })) as Spawned;
    tools = null;
    await pass(1);
    await team.spawn({ parent: one.session, agent: 'worker', task: 'hang' });
    await pass(1);
    expect(contexts.map(({ policy }) => policy.tools)).toEqual([
      ['read', 'spawn'],
      ['read', 'spawn'],
    ]);
    await team.close();
  });

  it('is not spawned with amounts if there is no budget', async () => {
    const { team } = tree({
      parent: [],
      budget: () => undefined,
      policy: { ...unrestricted, budget: { maxTokens: 5 } },
    });
    expect(await team.spawn({ parent: 'boss', agent: 'worker', task: 'x' })).toMatchObject({
      status: 'refused',
      code: 'not-allowed',
      reason: expect.stringContaining('maxTokens') as string,
    });
  });

  it('is restricted to its own folder and policy by the reach of its calls', async () => {
    const asked: unknown[] = [];
    const { run, children } = tree({
      parent: [says(spawn('a', 'x')), says(wait('w')), 'Done.'],
      tasks: { x: [says(call('1', 'read', { path: '/repo/a' }), call('2', 'read', { path: '/etc/passwd' })), 'Ok.'] },
      tools: [tool('read')],
      policy: { ...unrestricted, read: ['/repo'] },
      reachOf: ({ input }, { id, folder }) => (
        asked.push([id, folder]),
        { read: [(input as { readonly path: string }).path] }
      ),
    });
    await run();
    await pass(50);
    expect(asked).toEqual([
      ['c1', undefined],
      ['c1', undefined],
    ]);
    expect(readBy(children[0] as never, 1)).toMatch(/read ran.*This agent may not read \\"\/etc\/passwd/);
  });

  it('shares the budget of its parent, with the smaller amounts', async () => {
    const shares: unknown[] = [];
    let looks = 0;
    const budgetAt = (path: string): SharedBudget => ({
      share: (options) => {
        shares.push([path, options]);
        return budgetAt(`${path}/${options?.name}`);
      },
      charges: () => {
        looks += 1;
        return true;
      },
    });
    const { run, contexts } = tree({
      parent: [says(spawn('a', 'mid')), says(wait('w')), 'Done.'],
      tasks: { mid: [says(spawn('b')), says(wait('w')), 'Ok.'] },
      budget: (session) => budgetAt(session),
      policy: { ...unrestricted, budget: { maxTokens: 1000 } },
    });
    await run();
    expect(shares).toEqual([
      ['boss', { name: 'worker c1', maxTokens: 1000 }],
      ['boss/worker c1', { name: 'worker c2', maxTokens: 1000 }],
    ]);
    expect(contexts[0]?.budget).toBeDefined();
    expect(looks).toBe(2);
  });

  it.each<[string, SharedBudget['charges']]>([
    ['it is charged to no budget', () => false],
    ['another turn is charged', (turn) => turn === 'another'],
    [
      'its budget fails',
      () => {
        throw new Error('No.');
      },
    ],
  ])('is stopped before its first step if %s', async (_, charges) => {
    const budget: SharedBudget = { share: () => ({ share: () => budget, charges }), charges: () => true };
    const { team, children } = tree({ parent: [], budget });
    const spawned = (await team.spawn({ parent: 'boss', agent: 'worker', task: 'x' })) as Spawned;
    await pass(1);
    expect(await spawned.ended).toMatchObject({
      status: 'failed',
      outcome: 'error',
      steps: 0,
      error: { code: 'budget-not-charged' },
      reason: expect.stringContaining('The turn of the agent "worker" is not charged') as string,
    });
    expect(children[0]?.requests).toEqual([]);
  });

  it('is not run if an operator follows its guard', async () => {
    const { team, children } = tree({
      parent: [],
      agents: { odd: { description: 'Odd.', create: ({ guard }) => harness({ model: () => [] }).pipe(guard, tap()) } },
    });
    const spawned = (await team.spawn({ parent: 'boss', agent: 'odd', task: 'x' })) as Spawned;
    expect(await spawned.ended).toMatchObject({ status: 'failed', error: { code: 'guard-not-last' } });
    expect(children).toEqual([]);
  });
});
