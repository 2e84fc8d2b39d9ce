import { expect, it } from 'vitest';
import { tenantApprovals } from '../src/agents/tenant-approvals.js';
import { newSessionId } from '../src/service/session-id.js';
import { openBench } from './bench.js';
import { call } from './model-server.js';

it('asks each tenant about a call, also if another tenant has allowed it always', async () => {
  const push = call('bash', { command: 'git push' });
  const bench = await openBench({
    config: { approvals: { timeout: '50ms' } },
    agent: { tools: ['bash'] },
    answers: ({ messages }) => (messages.at(-1)?.role === 'tool' ? 'Done.' : push),
  });
  const isAsked = async (tenant: string, decision?: 'always'): Promise<boolean> => {
    const session = newSessionId('worker', tenant);
    const { events } = await bench.run('Push it.', { session, tenant, ...(decision && { decision }) });
    return events.some(({ type }) => type === 'approval.request');
  };
  expect(await isAsked('rival', 'always')).toBe(true);
  expect(await isAsked('rival')).toBe(false);
  expect(await isAsked('acme')).toBe(true);
});

it('stores what applies always for one agent of a tenant', async () => {
  const store = tenantApprovals();
  const rule = { tool: 'bash', hash: 'h', at: 1 };
  await store.add(rule, newSessionId('worker', 'acme'));
  const listed = async (agent: string, tenant: string): Promise<number> =>
    (await store.list(newSessionId(agent, tenant))).length;
  expect([await listed('worker', 'acme'), await listed('deployer', 'acme'), await listed('worker', 'rival')]).toEqual([
    1, 0, 0,
  ]);
});
